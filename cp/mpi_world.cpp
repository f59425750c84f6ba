// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/mpi_world.h"

#include <ATen/ATen.h>
#include <mpi.h>

#include <cstdlib>
#include <limits>
#include <thread>

#include "cp/error.h"

namespace ringcheck {
namespace {

void check(int status) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw std::runtime_error("MPI: " + std::string(text, length));
}

// Whole elements, so that counts stay below 2^31 as long as possible.
MPI_Datatype datatype(const at::Tensor& data) {
  switch (data.element_size()) {
    case 8: return MPI_UINT64_T;
    case 4: return MPI_UINT32_T;
    case 2: return MPI_UINT16_T;
    default: return MPI_BYTE;
  }
}

int elements(const at::Tensor& data) {
  if (!data.is_contiguous())
    throw std::invalid_argument("message is not contiguous; send tensor.contiguous()");
  if (data.numel() > std::numeric_limits<int>::max())
    throw std::length_error("message of " + std::to_string(data.numel()) +
                            " elements exceeds MPI's limit of 2147483647; use more ranks");
  return static_cast<int>(data.numel());
}

// Non-blocking sends and receives, completed by polling: no wait without a deadline.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(Group group, std::shared_ptr<Ledger> ledger, std::chrono::milliseconds deadline)
      : Communicator(std::move(group), std::move(ledger), deadline) {}

  Pending transfer(std::vector<Message> sends, std::vector<Message> receives,
                   Label label) override {
    auto posted = std::make_shared<std::vector<Half>>();
    for (const Message& message : receives)
      if (message.peer != rank()) posted->push_back(post(message, label, false));
    for (const Message& message : sends) {
      if (message.peer != rank()) posted->push_back(post(message, label, true));
      else copy_to_self(message, receives);
    }
    outstanding_.push_back(posted);
    return Pending([this, posted] {
      complete(*posted);
      std::erase(outstanding_, posted);
    });
  }

  void finish() override {
    for (const auto& posted : outstanding_) complete(*posted);
    outstanding_.clear();
  }

 private:
  struct Half {
    at::Tensor data;  // kept alive while it is in flight
    bool send;
    MPI_Request request;
    Operation operation;
    std::optional<size_t> entry;
  };

  std::unique_ptr<Communicator> over(Group group) override {
    return std::make_unique<MpiCommunicator>(std::move(group), shared_ledger(), deadline());
  }

  int tag() const { return static_cast<int>(group().id % 32000); }

  Half post(const Message& message, Label label, bool send) {
    using Direction = Transferred::Direction;
    const int peer = world_rank(message.peer);
    Half half{message.data, send, MPI_REQUEST_NULL, {label.name, label.step, peer}, {}};
    half.entry = ledger().transferred(send ? Direction::kSent : Direction::kReceived,
                                      half.operation, static_cast<int64_t>(half.data.nbytes()));
    void* memory = half.data.data_ptr();
    const int n = elements(half.data);
    const MPI_Datatype type = datatype(half.data);
    check(send ? MPI_Isend(memory, n, type, peer, tag(), MPI_COMM_WORLD, &half.request)
               : MPI_Irecv(memory, n, type, peer, tag(), MPI_COMM_WORLD, &half.request));
    return half;
  }

  void copy_to_self(const Message& message, const std::vector<Message>& receives) {
    for (const Message& receive : receives)
      if (receive.peer == rank()) receive.data.copy_(message.data.view_as(receive.data));
  }

  void complete(std::vector<Half>& posted) {
    for (Half& half : posted) await(half);
  }

  void await(Half& half) {
    ledger().enter(half.operation);
    const auto end = std::chrono::steady_clock::now() + deadline();
    MPI_Status status;
    for (int polls = 0, done = 0;; ++polls) {
      check(MPI_Test(&half.request, &done, &status));
      if (done) break;
      if (std::chrono::steady_clock::now() > end)
        throw Timeout("not complete within " + std::to_string(deadline().count()) + " ms");
      if (polls > 200) std::this_thread::sleep_for(std::chrono::microseconds(20));
      else std::this_thread::yield();
    }
    if (!half.send) check_size(half, status);
    ledger().complete(half.entry);
  }

  static void check_size(const Half& half, MPI_Status& status) {
    int received = 0;
    check(MPI_Get_count(&status, datatype(half.data), &received));
    if (received != elements(half.data))
      throw std::runtime_error("expected " + std::to_string(half.data.numel()) +
                               " elements, the peer sent " + std::to_string(received));
  }

  std::vector<std::shared_ptr<std::vector<Half>>> outstanding_;
};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  check(MPI_Init(&argc, &argv));
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

MpiSession::~MpiSession() { MPI_Finalize(); }

int MpiSession::rank() const {
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  return rank;
}

int MpiSession::size() const {
  int size = 1;
  check(MPI_Comm_size(MPI_COMM_WORLD, &size));
  return size;
}

std::unique_ptr<Communicator> MpiSession::world(std::chrono::milliseconds deadline) {
  Group everybody;
  everybody.rank = rank();
  for (int r = 0; r < size(); ++r) everybody.world_ranks.push_back(r);
  return std::make_unique<MpiCommunicator>(everybody, std::make_shared<Ledger>(), deadline);
}

void MpiSession::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::exit(code);
}

}  // namespace ringcheck
