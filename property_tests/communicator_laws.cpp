// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/communicator.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <thread>

#include "cp/error.h"
#include "property_tests/communicator_checks.h"
#include "property_tests/generators.h"
#include "property_tests/passes.h"

namespace ringcheck {
namespace {

using namespace std::chrono_literals;

// What was wrong on each rank of a drawn world; an empty string a rank where nothing was.
template <class Check>
std::vector<std::string> wrongs(int world, const Check& check) {
  return on_every_rank(world, [&](Communicator& comm) -> std::string { return check(comm); });
}
std::vector<std::string> nothing(int world) { return std::vector<std::string>(world); }

RC_GTEST_PROP(Communicator, ExchangeDelivers, ()) {
  const int world = *gen::world().as("world");
  const int shift = static_cast<int>(*gen::between(0, world).as("shift"));
  const int64_t elements = *gen::between(1, 50).as("elements");
  const auto dtype = *gen::choice<at::ScalarType>({at::kFloat, at::kDouble, at::kBFloat16, at::kHalf,
                                                   at::kLong, at::kByte})
                          .as("dtype");
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::exchange_delivers(comm, shift, elements, dtype);
            }) == nothing(world));
}

RC_GTEST_PROP(Communicator, MessagesMatchInPostingOrder, ()) {
  const int world = *gen::world().as("world");
  const int messages = static_cast<int>(*gen::between(1, 5).as("messages"));
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::messages_match_in_posting_order(comm, messages);
            }) == nothing(world));
}

RC_GTEST_PROP(Communicator, AllGatherCollects, ()) {
  const int world = *gen::world().as("world");
  const int64_t elements = *gen::between(1, 20).as("elements");
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::all_gather_collects(comm, elements);
            }) == nothing(world));
}

RC_GTEST_PROP(Communicator, AllToAllDelivers, ()) {
  const int world = *gen::world().as("world");
  const uint64_t seed = *gen::seed().as("seed");
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::all_to_all_delivers(comm, seed);
            }) == nothing(world));
}

RC_GTEST_PROP(Communicator, ReduceScatterAddsInRankOrder, ()) {
  const int world = *gen::world().as("world");
  const uint64_t seed = *gen::seed().as("seed");
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::reduce_scatter_adds_in_rank_order(comm, seed);
            }) == nothing(world));
}

RC_GTEST_PROP(Communicator, AgreementIsTheMaximum, ()) {
  const int world = *gen::world().as("world");
  const uint64_t seed = static_cast<uint64_t>(*gen::between(1, 1000).as("values"));
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::agreement_is_the_maximum(comm, seed);
            }) == nothing(world));
}

RC_GTEST_PROP(Communicator, LedgerCountsMessages, ()) {
  const int world = *gen::world().as("world");
  const uint64_t seed = *gen::seed().as("seed");
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::ledger_counts_messages(comm, seed);
            }) == nothing(world));
}

RC_GTEST_PROP(Communicator, BuffersAreFreeAfterWait, ()) {
  const int world = *gen::world().as("world");
  RC_ASSERT(wrongs(world, checks::buffers_are_free_after_wait) == nothing(world));
}

RC_GTEST_PROP(Communicator, ADroppedTransferCompletes, ()) {
  const int world = *gen::world().as("world");
  RC_ASSERT(wrongs(world, checks::a_dropped_transfer_completes) == nothing(world));
}

// Subgroups with offset, stride and reversal, and subgroups of subgroups.
RC_GTEST_PROP(Communicator, SplitOrdersByKey, ()) {
  const int world = *gen::world().as("world");
  std::vector<int> colors, keys;
  for (int r = 0; r < world; ++r) {
    colors.push_back(static_cast<int>(*gen::between(0, 2).as("color")));
    keys.push_back(static_cast<int>(*gen::between(-2, 2).as("key")));
  }
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              const auto outer = comm.split(colors[comm.rank()], -comm.rank());
              const std::vector<int> same(outer->size(), 3);
              return checks::split_orders_by_key(comm, colors, keys) +
                     checks::split_orders_by_key(*outer, same, same);
            }) == nothing(world));
}

// Until wait(), a receive buffer holds NaN (-1 for integers), whatever arrived.
RC_GTEST_PROP(Communicator, ReceiveBuffersAreNanUntilWait, ()) {
  const int world = *gen::world().as("world");
  const auto dtype = *gen::dtype().as("dtype");
  const auto early = on_every_rank(world, [&](Communicator& comm) {
    const at::Tensor send = at::ones({7}, dtype), receive = at::zeros({7}, dtype);
    const at::Tensor counts = at::ones({7}, at::kLong), counted = at::zeros({7}, at::kLong);
    Pending a = comm.exchange(send, comm.right(), receive, comm.left(), {"test", 0});
    Pending b = comm.exchange(counts, comm.right(), counted, comm.left(), {"test", 1});
    bool poisoned = true;
    for (int look = 0; look < 3; ++look, std::this_thread::yield())
      poisoned &= receive.isnan().all().item<bool>() && counted.eq(-1).all().item<bool>();
    a.wait();
    b.wait();
    return poisoned && receive.eq(1).all().item<bool>() && counted.eq(1).all().item<bool>() ? 1 : 0;
  });
  RC_ASSERT(early == std::vector<int>(world, 1));
}

// Runs a world that must fail, and returns how.
RankFailure failure_of(const ThreadWorld& world, const std::function<void(Communicator&)>& body) {
  try {
    run(world, body);
  } catch (const RankFailure& failure) {
    return failure;
  }
  RC_FAIL("the world did not fail");
}

void exchange_right(Communicator& comm, int64_t sent, int64_t expected, const char* name) {
  const at::Tensor receive = at::empty({expected});
  comm.exchange(at::ones({sent}), comm.right(), receive, comm.left(), {name, 4}).wait();
}

// A rank that throws ends the world at once, under its own name and operation.
RC_GTEST_PROP(Communicator, ARankThatThrowsEndsTheWorld, ()) {
  const int world = static_cast<int>(*gen::between(2, 8).as("world"));
  const int culprit = static_cast<int>(*gen::between(0, world - 1).as("culprit"));
  const auto begin = std::chrono::steady_clock::now();
  const RankFailure failure = failure_of({world, 60s, {}}, [&](Communicator& comm) {
    comm.agree_max(int64_t{1});
    if (comm.rank() == culprit) {
      comm.ledger().enter({"thinking", 7});
      throw std::runtime_error("no idea");
    }
    exchange_right(comm, 3, 3, "waiting");
    comm.agree_max(int64_t{1});
  });
  RC_ASSERT(failure.rank() == culprit);
  RC_ASSERT(!failure.hang());
  RC_ASSERT(std::string(failure.operation().name) == "thinking");
  RC_ASSERT(failure.operation().step == 7);
  const std::string expected = "rank " + std::to_string(culprit) + " in thinking, step 7: no idea";
  RC_ASSERT(std::string(failure.what()) == expected);
  RC_ASSERT((std::chrono::steady_clock::now() - begin < 20s));
}

// A partner that never comes ends the wait at the deadline, and the failure names it.
TEST(Communicator, AMissingPartnerIsATimeout) {
  for (const int world : {2, 3, 5}) {
    const int missing = world - 2;
    const auto begin = std::chrono::steady_clock::now();
    const RankFailure failure = failure_of({world, 150ms, {}}, [&](Communicator& comm) {
      if (comm.rank() == missing) return;
      if (comm.left() == missing) exchange_right(comm, 3, 3, "exchange test");
    });
    const auto time = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(failure.rank(), world - 1);
    EXPECT_TRUE(failure.hang());
    EXPECT_EQ(failure.operation().peer, missing);
    EXPECT_THAT(failure.what(), testing::HasSubstr("exchange test, step 4, peer " +
                                                   std::to_string(missing)));
    EXPECT_GE(time, 150ms);
    EXPECT_LT(time, 10s);
  }
}

// A message that nobody takes ends finish() at the deadline.
TEST(Communicator, AMessageThatNobodyTakesIsATimeout) {
  const RankFailure failure = failure_of({2, 150ms, {}}, [](Communicator& comm) {
    if (comm.rank() == 1) std::ignore = comm.transfer({{at::ones({2}), 0}}, {}, {"lonely", 2});
  });
  EXPECT_EQ(failure.rank(), 1);
  EXPECT_TRUE(failure.hang());
  EXPECT_EQ(failure.operation().peer, 0);
}

// A message of another size or dtype than its buffer is an error, not a wrong result.
RC_GTEST_PROP(Communicator, AWrongSizeIsAnError, ()) {
  const int world = *gen::world().as("world");
  const int64_t expected = *gen::between(1, 9).as("expected");
  const int64_t off = *gen::choice<int64_t>({1, -1, 20}).as("off by");
  RC_PRE(expected + off > 0);
  const auto failure = failure_of({world, 20s, {}}, [&](Communicator& comm) {
    exchange_right(comm, expected + off, expected, "exchange test");
  });
  RC_ASSERT(!failure.hang());
  RC_ASSERT(std::string(failure.operation().name) == "exchange test");
}

TEST(Communicator, AnotherDtypeIsAnError) {
  const auto failure = failure_of({2, 20s, {}}, [](Communicator& comm) {
    const at::Tensor receive = at::empty({4}, at::kInt);
    comm.exchange(at::ones({4}), comm.right(), receive, comm.left(), {"test"}).wait();
  });
  EXPECT_FALSE(failure.hang());
}

// A message that is not contiguous is refused before anything is sent.
TEST(Communicator, AStridedMessageIsRefused) {
  for (const bool sent : {true, false}) {
    const auto refused = on_every_rank(3, [&](Communicator& comm) {
      const at::Tensor strided = at::ones({4, 4}).t(), plain = at::ones({4, 4});
      try {
        std::ignore = comm.exchange(sent ? strided : plain, comm.right(), sent ? plain : strided,
                                    comm.left(), {"test"});
      } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("contiguous"));
        return 1;
      }
      return 0;
    });
    EXPECT_EQ(refused, std::vector<int>(3, 1)) << (sent ? "send" : "receive");
  }
}

// The observer of a world is told what each rank is about to wait for.
TEST(Communicator, TheObserverHearsEveryOperation) {
  std::vector<std::vector<std::string>> heard(3);
  run({3, 20s, [&](int rank, const Operation& operation) { heard[rank].push_back(describe(operation)); }},
      [](Communicator& comm) { exchange_right(comm, 2, 2, "shift"); });
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_THAT(heard[rank],
                testing::Contains("shift, step 4, peer " + std::to_string((rank + 2) % 3)));
}

// A world has as many ranks as it says, each with its own number.
RC_GTEST_PROP(Communicator, AWorldHasEveryRankOnce, ()) {
  const int world = *gen::world().as("world");
  const auto ranks = on_every_rank(world, [](Communicator& comm) {
    return std::vector<int>{comm.rank(), comm.size(), comm.left(), comm.right(),
                            comm.world_rank(comm.rank())};
  });
  for (int r = 0; r < world; ++r)
    RC_ASSERT((ranks[r] == std::vector<int>{r, world, (r + world - 1) % world, (r + 1) % world, r}));
}

}  // namespace
}  // namespace ringcheck
