// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/mpi/mpi_communicator.h"

#include <ATen/ATen.h>

#include <limits>
#include <thread>

#include "cp/worlds/transport.h"

namespace ringcheck {

void check_mpi(int status) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw std::runtime_error("MPI: " + std::string(text, length));
}

namespace {

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
  if (data.numel() > std::numeric_limits<int>::max())
    throw std::length_error("message of " + std::to_string(data.numel()) +
                            " elements exceeds MPI's limit of 2147483647; use more ranks");
  return static_cast<int>(data.numel());
}

// Of the pieces of a message at their absolute addresses; to be freed.
MPI_Datatype datatype_of_pieces(const Half& half) {
  std::vector<MPI_Aint> addresses;
  int length = 0;
  each_piece(half, [&](void* data, int64_t bytes) {
    addresses.emplace_back();
    check_mpi(MPI_Get_address(data, &addresses.back()));
    length = static_cast<int>(bytes / static_cast<int64_t>(half.data.element_size()));
  });
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_create_hindexed_block(static_cast<int>(addresses.size()), length, addresses.data(), datatype(half.data), &type));
  check_mpi(MPI_Type_commit(&type));
  return type;
}

// The buffers of one rank of an MPI_Ialltoallw, wherever they lie: a datatype for each peer that
// holds an absolute address. Lives until the collective is complete.
class Scattered {
 public:
  Scattered(const std::vector<Half>& halves, int ranks)
      : counts_(ranks, 0), displacements_(ranks, 0), types_(ranks, MPI_BYTE) {
    for (const Half& half : halves) place(half);
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
  void place(const Half& half) {
    const int length = elements(half.data);
    MPI_Datatype& type = types_[half.peer];
    MPI_Aint address = 0;
    check_mpi(MPI_Get_address(half.data.data_ptr(), &address));
    check_mpi(MPI_Type_create_hindexed(1, &length, &address, datatype(half.data), &type));
    counts_[half.peer] = 1;
    check_mpi(MPI_Type_commit(&type));
  }

  std::vector<int> counts_, displacements_;
  std::vector<MPI_Datatype> types_;
};

// Non-blocking operations, completed by polling: no wait without a deadline.
class MpiCommunicator final : public Transport {
 public:
  MpiCommunicator(std::shared_ptr<const Contexts> contexts, Channel channel, Group group,
                  std::shared_ptr<Ledger> ledger, std::chrono::milliseconds deadline)
      : Transport(std::move(group), std::move(ledger), deadline),
        contexts_(std::move(contexts)),
        channel_(channel) {}

  std::unique_ptr<Communicator> over(Group group) override {
    if (group.id >= contexts_->most_tags)
      throw std::length_error("group " + std::to_string(group.id) + " of this job, and MPI has " +
                              std::to_string(contexts_->most_tags) +
                              " tags; run fewer cases in one job");
    const Channel channel{contexts_->groups, static_cast<int>(group.id)};
    return std::make_unique<MpiCommunicator>(contexts_, channel, std::move(group), shared_ledger(),
                                             deadline());
  }

 private:
  // A request, and what it needs while it is in flight.
  struct Flight {
    MPI_Request request = MPI_REQUEST_NULL;
    Operation operation = {};
    std::vector<Half> halves = {};
    bool receives = false;  // one message, whose size is to be checked
    std::vector<std::shared_ptr<Scattered>> keep = {};
  };
  using Flights = std::shared_ptr<std::vector<Flight>>;

  // MPI's own collectives where all ranks of the job take part; groups within it use messages.
  InFlight post(Posting posting) override {
    const auto flights = std::make_shared<std::vector<Flight>>();
    const at::Tensor whole = gathered_as_one(posting);
    if (channel_.comm == contexts_->worlds && posting.pattern == Pattern::kAllToAll)
      flights->push_back(all_to_all(std::move(posting)));
    else if (channel_.comm == contexts_->worlds && whole.defined())
      flights->push_back(gather(std::move(posting), whole));
    else
      post_messages(std::move(posting), *flights);
    return {[this, flights] {
      for (Flight& flight : *flights) await(flight);
    }};
  }

  void post_messages(Posting posting, std::vector<Flight>& flights) {
    for (auto* halves : {&posting.receives, &posting.sends})
      for (const Half& half : *halves) elements(half.data);  // all or none
    for (Half& half : posting.receives) flights.push_back(message(std::move(half), true));
    for (Half& half : posting.sends) flights.push_back(message(std::move(half), false));
  }

  Flight message(Half half, bool receives) {
    const int peer = world_rank(half.peer), n = half.in_pieces ? 1 : elements(half.data);
    MPI_Datatype type = half.in_pieces ? datatype_of_pieces(half) : datatype(half.data);
    void* memory = half.in_pieces ? MPI_BOTTOM : half.data.data_ptr();
    Flight flight{MPI_REQUEST_NULL, half.operation, {}, receives, {}};
    const auto [comm, tag] = channel_;
    check_mpi(receives ? MPI_Irecv(memory, n, type, peer, tag, comm, &flight.request)
                       : MPI_Isend(memory, n, type, peer, tag, comm, &flight.request));
    if (half.in_pieces) MPI_Type_free(&type);  // gone with the message
    flight.halves.push_back(std::move(half));
    return flight;
  }

  Flight collective(Posting posting) {
    Flight flight{MPI_REQUEST_NULL, {posting.label.name, posting.label.step}, {}, false, {}};
    flight.halves = std::move(posting.sends);
    flight.halves.insert(flight.halves.end(), posting.receives.begin(), posting.receives.end());
    return flight;
  }

  Flight all_to_all(Posting posting) {
    const auto out = std::make_shared<Scattered>(posting.sends, size());
    const auto in = std::make_shared<Scattered>(posting.receives, size());
    Flight flight = collective(std::move(posting));
    flight.keep = {out, in};
    check_mpi(MPI_Ialltoallw(MPI_BOTTOM, out->counts(), out->displacements(), out->types(),
                             MPI_BOTTOM, in->counts(), in->displacements(), in->types(),
                             channel_.comm, &flight.request));
    return flight;
  }

  Flight gather(Posting posting, const at::Tensor& whole) {
    const at::Tensor own = posting.sends.front().data;
    Flight flight = collective(std::move(posting));
    const int n = elements(own);
    const MPI_Datatype type = datatype(own);
    check_mpi(MPI_Iallgather(own.data_ptr(), n, type, whole.data_ptr(), n, type, channel_.comm,
                             &flight.request));
    return flight;
  }

  void await(Flight& flight) {
    if (flight.request == MPI_REQUEST_NULL) return;
    ledger().enter(flight.operation);
    const auto end = std::chrono::steady_clock::now() + deadline();
    MPI_Status status;
    for (int polls = 0, done = 0;; ++polls) {
      check_mpi(MPI_Test(&flight.request, &done, &status));
      if (done) break;
      if (std::chrono::steady_clock::now() > end)
        throw late(flight.receives ? "nothing arrived" : "not complete");
      if (polls > 200) std::this_thread::sleep_for(std::chrono::microseconds(20));
      else std::this_thread::yield();
    }
    if (flight.receives) check_size(flight.halves.front().data, status);
    for (const Half& half : flight.halves) ledger().complete(half.entry);
    flight.keep.clear();
  }

  static void check_size(const at::Tensor& data, const MPI_Status& status) {
    int received = 0;
    check_mpi(MPI_Get_count(&status, datatype(data), &received));
    if (received != elements(data))
      throw std::runtime_error("expected " + std::to_string(data.numel()) +
                               " elements, the peer sent " + std::to_string(received));
  }

  std::shared_ptr<const Contexts> contexts_;
  Channel channel_;
};

}  // namespace

std::unique_ptr<Communicator> mpi_communicator(std::shared_ptr<const Contexts> contexts,
                                               Channel channel, Group group,
                                               std::shared_ptr<Ledger> ledger,
                                               std::chrono::milliseconds deadline) {
  return std::make_unique<MpiCommunicator>(std::move(contexts), channel, std::move(group),
                                           std::move(ledger), deadline);
}

}  // namespace ringcheck
