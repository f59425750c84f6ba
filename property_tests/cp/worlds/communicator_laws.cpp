// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/communicator.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "cp/error.h"
#include "property_tests/cp/worlds/communicator_checks.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

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
  const auto dtype = *gen::choice<at::ScalarType>(
                          {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kLong, at::kByte})
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

RC_GTEST_PROP(Communicator, MessagesOfOneTransferMatchInOrder, ()) {
  const int world = static_cast<int>(*gen::between(2, 8).as("world"));
  RC_ASSERT(wrongs(world, checks::messages_of_one_transfer_match_in_order) == nothing(world));
}

RC_GTEST_PROP(Communicator, PiecesArriveInTheirPlaces, ()) {
  const int world = *gen::world().as("world");
  RC_ASSERT(wrongs(world, checks::pieces_arrive_in_their_places) == nothing(world));
}

RC_GTEST_PROP(Communicator, MessagesToOneselfMatchInOrder, ()) {
  const int world = *gen::world().as("world");
  RC_ASSERT(wrongs(world, checks::messages_to_oneself_match_in_order) == nothing(world));
}

RC_GTEST_PROP(Communicator, AllGatherCollects, ()) {
  const int world = *gen::world().as("world");
  const int64_t elements = *gen::between(1, 20).as("elements");
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::all_gather_collects(comm, elements);
            }) == nothing(world));
}

RC_GTEST_PROP(Communicator, AllGatherFillsOneBuffer, ()) {
  const int world = *gen::world().as("world");
  const int64_t elements = *gen::choice<int64_t>({32, 7, 96, 1}).as("elements");
  RC_ASSERT(wrongs(world, [&](Communicator& comm) {
              return checks::all_gather_fills_one_buffer(comm, elements);
            }) == nothing(world));
}

// Buffers to gather into begin at multiples of 128 bytes, and are one where that can be.
RC_GTEST_PROP(Communicator, BuffersAreAligned, ()) {
  const int world = *gen::world().as("world");
  const int64_t elements = *gen::between(1, 300).as("elements");
  const auto dtype = *gen::dtype().as("dtype");
  const auto wrong = on_every_rank(world, [&](Communicator& comm) {
    const auto buffers = comm.buffers(elements, dtype, MemoryTag::kKv);
    int apart = 0, astray = 0;
    for (const at::Tensor& buffer : buffers) {
      apart += !buffer.is_alias_of(buffers.front());
      astray += reinterpret_cast<uintptr_t>(buffer.data_ptr()) % kBufferAlignment != 0 ||
                buffer.numel() != elements || !buffer.is_contiguous();
    }
    const bool one = buffers.front().nbytes() % kBufferAlignment == 0;
    return static_cast<int>(buffers.size()) != comm.size() || astray != 0 ||
           apart != (one ? 0 : comm.size() - 1) ? 1 : 0;
  });
  RC_ASSERT(wrong == std::vector<int>(world, 0));
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

// The observer of a world is told what each rank is about to wait for.
TEST(Communicator, TheObserverHearsEveryOperation) {
  std::vector<std::vector<std::string>> heard(3);
  run({3, 20s,
       [&](int rank, const Operation& operation) { heard[rank].push_back(describe(operation)); }},
      [](Communicator& comm) {
        const at::Tensor receive = at::empty({2});
        comm.exchange(at::ones({2}), comm.right(), receive, comm.left(), {"shift", 4}).wait();
      });
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
    RC_ASSERT(
        (ranks[r] == std::vector<int>{r, world, (r + world - 1) % world, (r + 1) % world, r}));
}

// Ranks compute on one thread each; the rest of the process, a thread that begins later too, on as
// many as before, also where a rank failed.
TEST(ThreadWorld, LeavesTheProcessItsNumberOfThreads) {
  const auto of_another = [] {
    int number = 0;
    std::jthread([&] { number = at::get_num_threads(); }).join();
    return number;
  };
  at::set_num_threads(3);
  run({2, 20s}, [](Communicator& comm) { comm.agree_max(int64_t{1}); });
  EXPECT_EQ(at::get_num_threads(), 3);
  EXPECT_EQ(of_another(), 3);
  EXPECT_THROW(run({2, 20s}, [](Communicator&) { throw std::runtime_error("no"); }), RankFailure);
  EXPECT_EQ(of_another(), 3);
}

}  // namespace
}  // namespace ringcheck
