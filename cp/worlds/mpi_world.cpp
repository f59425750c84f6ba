// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/mpi_world.h"

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

// The buffers of one rank of an MPI_Ialltoallw, wherever they lie: a datatype for each peer that
// holds an absolute address. Lives until the collective is complete.
class Scattered {
 public:
  explicit Scattered(const std::vector<at::Tensor>& tensors)
      : tensors_(tensors), counts_(tensors.size(), 0), displacements_(tensors.size(), 0),
        types_(tensors.size(), MPI_BYTE) {
    for (size_t rank = 0; rank < tensors.size(); ++rank)
      if (tensors[rank].defined() && tensors[rank].numel() > 0) place(rank);
  }
  ~Scattered() {
    for (size_t rank = 0; rank < types_.size(); ++rank)
      if (counts_[rank] > 0) MPI_Type_free(&types_[rank]);
  }
  Scattered(const Scattered&) = delete;
  Scattered& operator=(const Scattered&) = delete;

  const int* counts() const { return counts_.data(); }
  const int* displacements() const { return displacements_.data(); }
  const MPI_Datatype* types() const { return types_.data(); }

 private:
  void place(size_t rank) {
    const int length = elements(tensors_[rank]);
    MPI_Aint address = 0;
    check(MPI_Get_address(tensors_[rank].data_ptr(), &address));
    check(MPI_Type_create_hindexed(1, &length, &address, datatype(tensors_[rank]), &types_[rank]));
    check(MPI_Type_commit(&types_[rank]));
    counts_[rank] = 1;
  }

  std::vector<at::Tensor> tensors_;
  std::vector<int> counts_, displacements_;
  std::vector<MPI_Datatype> types_;
};

// Non-blocking operations, completed by polling: no wait without a deadline.
class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator(Group group, std::shared_ptr<Ledger> ledger, std::chrono::milliseconds deadline)
      : Communicator(std::move(group), std::move(ledger), deadline) {}

  // MPI's own collective where all ranks of the job take part; groups within it use messages.
  Pending all_to_all(const std::vector<at::Tensor>& sends, const std::vector<at::Tensor>& receives,
                     Label label) override {
    if (group().id != 0) return Communicator::all_to_all(sends, receives, label);
    auto out = std::make_shared<Scattered>(sends), in = std::make_shared<Scattered>(receives);
    auto posted = std::make_shared<std::vector<Half>>(1);
    Half& half = posted->front();
    half.keep = {out, in};
    half.operation = {label.name, label.step, -1};
    enter_all(sends, label, Transferred::Direction::kSent, half);
    enter_all(receives, label, Transferred::Direction::kReceived, half);
    check(MPI_Ialltoallw(MPI_BOTTOM, out->counts(), out->displacements(), out->types(), MPI_BOTTOM,
                         in->counts(), in->displacements(), in->types(), MPI_COMM_WORLD,
                         &half.request));
    return pending(posted);
  }

  Pending transfer(std::vector<Message> sends, std::vector<Message> receives,
                   Label label) override {
    auto posted = std::make_shared<std::vector<Half>>();
    for (const Message& message : receives) posted->push_back(post(message, label, false));
    for (const Message& message : sends) posted->push_back(post(message, label, true));
    return pending(posted);
  }

  void finish() override {
    for (const auto& posted : outstanding_) complete(*posted);
    outstanding_.clear();
  }

  std::unique_ptr<Communicator> over(Group group) override {
    return std::make_unique<MpiCommunicator>(std::move(group), shared_ledger(), deadline());
  }

 private:
  // A request, and what it needs while it is in flight.
  struct Half {
    at::Tensor data;  // of a message; undefined for a collective
    bool send = false;
    MPI_Request request = MPI_REQUEST_NULL;
    Operation operation;
    std::vector<std::optional<size_t>> entries;  // in the ledger
    std::vector<std::shared_ptr<Scattered>> keep;
  };
  using Posted = std::shared_ptr<std::vector<Half>>;

  int tag() const { return static_cast<int>(group().id % 32000); }

  Half post(const Message& message, Label label, bool send) {
    using Direction = Transferred::Direction;
    const int peer = world_rank(message.peer);
    Half half{message.data, send, MPI_REQUEST_NULL, {label.name, label.step, peer}, {}, {}};
    if (message.peer != rank())
      half.entries = {ledger().transferred(send ? Direction::kSent : Direction::kReceived,
                                           half.operation,
                                           static_cast<int64_t>(half.data.nbytes()))};
    void* memory = half.data.data_ptr();
    const int n = elements(half.data);
    const MPI_Datatype type = datatype(half.data);
    check(send ? MPI_Isend(memory, n, type, peer, tag(), MPI_COMM_WORLD, &half.request)
               : MPI_Irecv(memory, n, type, peer, tag(), MPI_COMM_WORLD, &half.request));
    return half;
  }

  void enter_all(const std::vector<at::Tensor>& tensors, Label label,
                 Transferred::Direction direction, Half& half) {
    for (int peer = 0; peer < size(); ++peer)
      if (peer != rank() && tensors[peer].defined())
        half.entries.push_back(
            ledger().transferred(direction, {label.name, label.step, world_rank(peer)},
                                 static_cast<int64_t>(tensors[peer].nbytes())));
  }

  Pending pending(const Posted& posted) {
    outstanding_.push_back(posted);
    return Pending([this, posted] {
      complete(*posted);
      std::erase(outstanding_, posted);
    });
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
    if (half.data.defined() && !half.send) check_size(half, status);
    for (const auto& entry : half.entries) ledger().complete(entry);
    half.keep.clear();
  }

  static void check_size(const Half& half, MPI_Status& status) {
    int received = 0;
    check(MPI_Get_count(&status, datatype(half.data), &received));
    if (received != elements(half.data))
      throw std::runtime_error("expected " + std::to_string(half.data.numel()) +
                               " elements, the peer sent " + std::to_string(received));
  }

  std::vector<Posted> outstanding_;
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
