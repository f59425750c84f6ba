// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A subject that calls torch.distributed's gloo itself is counted at the dispatcher: what it moves
// beside its strategy fails `counters`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <mutex>

#include "cp/ledger/bypass.h"
#include "parity/case/text.h"
#include "parity/subject/world.h"
#include "property_tests/asan_options.h"
#include "property_tests/parity/subject/foreign.h"

RINGCHECK_ASAN_OPTIONS("new_delete_type_mismatch=0")  // of the class below

// LibTorch's gloo, of which its package brings the code but not gloo's own headers, that those of
// LibTorch need: what is called of it, and more room than an object of it takes.
namespace c10d {
class ProcessGroupGloo final : public Backend {
 public:
  struct Options : Backend::Options {
    static c10::intrusive_ptr<Options> create_default(std::chrono::milliseconds timeout);
  };
  ProcessGroupGloo(const c10::intrusive_ptr<Store>& store, int rank, int size,
                   c10::intrusive_ptr<Options> options);
  ~ProcessGroupGloo() override;

 private:
  char room_[1 << 14];
};
}  // namespace c10d

namespace ringcheck {
namespace {

using parity::Case;
using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

// The process groups of ranks that are threads. They live until all ranks have left.
class Gloo {
 public:
  // As torch.distributed makes them: of some ranks it notes their world ranks.
  Group join(int rank, int size, const std::vector<uint64_t>& world_ranks = {}) {
    auto options = c10d::ProcessGroupGloo::Options::create_default(std::chrono::seconds(30));
    options->global_ranks_in_group = world_ranks;
    auto backend = c10::make_intrusive<c10d::ProcessGroupGloo>(store_, rank, size, options);
    auto group = c10::make_intrusive<c10d::ProcessGroup>(store_, rank, size);
    group->setBackend(at::kCPU, c10d::ProcessGroup::BackendType::GLOO, backend);
    group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
    const std::lock_guard lock(mutex_);
    groups_.push_back(group);
    return group;
  }

 private:
  c10::intrusive_ptr<c10d::Store> store_ = c10::make_intrusive<c10d::HashStore>();
  std::mutex mutex_;
  std::vector<Group> groups_;
};

std::function<Exchange(Communicator&)> by_gloo() {
  return [gloo = std::make_shared<Gloo>()](Communicator& comm) -> Exchange {
    return [group = gloo->join(comm.rank(), comm.size())](
               const at::Tensor& send, int to, const at::Tensor& receive, int from) {
      std::vector<at::Tensor> out{send}, in{receive};
      const auto sent = group->send(out, to, 0), received = group->recv(in, from, 0);
      sent->wait();
      received->wait();
    };
  };
}

const char* const kCase = "ring:p2p/headtail/plain/causal/P3/b2/hq4/hkv2/s48/d16/dv24/bf16";

parity::OracleVerdict verdict(int extra, std::function<void(parity::Promise&)> promise = {}) {
  const Case test = parity::parse_case(kCase);
  const auto subject = moving_by(by_gloo(), extra, std::move(promise));
  return counters_of(test, *subject, parity::solve_on_threads({test}, *subject));
}

TEST(ForeignGloo, PassesWhereItMovesWhatItsStrategyMoves) {
  const parity::OracleVerdict clean = verdict(0);
  EXPECT_EQ(clean.status, parity::Status::kPass);
  EXPECT_THAT(clean.findings, testing::IsEmpty());
}

TEST(ForeignGloo, ABlockOutsideThePassesIsNamed) {
  const parity::OracleVerdict extra = verdict(1);
  EXPECT_EQ(extra.status, parity::Status::kFail);
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_THAT(extra.findings, testing::Contains(block_outside(parity::parse_case(kCase), rank)));
}

// Without a closed form nobody judges it, and the verdict tells it.
TEST(ForeignGloo, TrafficOfNoStrategyIsTold) {
  const parity::OracleVerdict told =
      verdict(0, [](parity::Promise& promise) { promise.by_strategy = false; });
  EXPECT_EQ(told.status, parity::Status::kNotApplicable);
  EXPECT_THAT(told.findings, testing::Contains(testing::ContainsRegex(
                                 "rank 2 sent [1-9][0-9]* bytes in 7 messages and received")));
}

// As the messages that would carry them.
TEST(ForeignGloo, CollectivesAreCounted) {
  constexpr int kRanks = 3, kBytes = 40;
  Gloo gloo;
  std::vector<Traffic> traffic(kRanks);
  run({kRanks, std::chrono::seconds(60), {}, at::kCPU}, [&](Communicator& comm) {
    const Group group = gloo.join(comm.rank(), comm.size());
    Ledger ledger;
    const Witnessed witnessed(ledger, {0, 1, 2});
    std::vector<at::Tensor> own{at::ones({kBytes}, at::kByte)};
    std::vector<at::Tensor> all;
    for (int rank = 0; rank < kRanks; ++rank) all.push_back(at::empty_like(own[0]));
    std::vector<std::vector<at::Tensor>> gathered{all};
    group->allgather(gathered, own)->wait();
    group->allreduce(own)->wait();
    group->broadcast(own)->wait();
    traffic[comm.rank()] = ledger.traffic();
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(traffic[rank].bytes_sent, kBytes * (2 * 2 + (rank == 0 ? 2 : 0))) << rank;
    EXPECT_EQ(traffic[rank].bytes_received, kBytes * (2 * 2 + (rank == 0 ? 0 : 1))) << rank;
  }
}

// A rank of a group of some is not of that number in the world.
TEST(ForeignGloo, PeersAreThoseOfTheWorld) {
  constexpr int kBytes = 40;
  const std::vector<uint64_t> kMembers{1, 3};
  Gloo gloo;
  std::vector<Traffic> traffic(kMembers.size());
  run({static_cast<int>(kMembers.size()), std::chrono::seconds(60), {}, at::kCPU}, [&](Communicator& comm) {
    const Group group = gloo.join(comm.rank(), comm.size(), kMembers);
    Ledger ledger;
    const Witnessed witnessed(ledger, {0, 1, 2, 3});
    std::vector<at::Tensor> own{at::ones({kBytes}, at::kByte)};
    group->broadcast(own)->wait();
    traffic[comm.rank()] = ledger.traffic();
  });
  EXPECT_EQ(traffic[0].peers.at(3).sent, kBytes);
  EXPECT_EQ(traffic[1].peers.at(1).received, kBytes);
}

}  // namespace
}  // namespace ringcheck
