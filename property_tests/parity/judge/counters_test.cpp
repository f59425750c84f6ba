// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "parity/judge/expected/expected.h"
#include "parity/subject/ours.h"
#include "parity/subject/world.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::expected_counters;

std::vector<int64_t> pairs_of_all(const Case& test) {
  std::vector<int64_t> pairs;
  for (const parity::ExpectedCounters& rank : expected_counters(test))
    pairs.push_back(rank.forward.pairs);
  return pairs;
}

// Every position has the owner that the layout gives it.
RC_GTEST_PROP(ExpectedCounters, KnowTheOwners, ()) {
  const Case test = *gen::test_case();
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  int64_t seen = 0;
  for (int rank = 0; rank < test.world; ++rank)
    for (const int64_t position : flatten(layout[rank]))
      if (position < test.seq) {
        RC_ASSERT(parity::owner_of(test, position) == rank);
        ++seen;
      }
  RC_ASSERT(seen == test.seq);
}

// A query sees as many keys as the predicate says.
RC_GTEST_PROP(ExpectedCounters, CountTheVisibleKeys, ()) {
  const Case test = *gen::test_case();
  const Mask mask = parity::mask_of(test);
  for (int64_t q = 0; q < test.seq; ++q) {
    int64_t seen = 0;
    for (int64_t k = 0; k < test.seq; ++k) seen += visible(mask, q, k);
    RC_ASSERT(parity::keys_seen(test, 0, q) == seen);
  }
}

// In tiles of one query and one key nothing is computed that nobody sees; in larger ones more, up to
// whole blocks.
RC_GTEST_PROP(ExpectedCounters, TilesHoldWhatIsSeen, ()) {
  const Case test = *gen::test_case();
  const int rank = *gen::between(0, test.world - 1).as("rank");
  const int64_t rows = *gen::between(1, 9).as("rows"), columns = *gen::between(1, 9).as("columns");
  const int64_t slots = parity::slots_of_rank(test);
  const parity::ExpectedCounters expected = expected_counters(test).at(rank);
  const auto in_tiles = [&](int64_t queries, int64_t keys) {
    return parity::pairs_in_tiles(test, expected.steps, {queries, keys});
  };
  RC_ASSERT(in_tiles(1, 1) == expected.forward.pairs);
  RC_ASSERT(in_tiles(rows, columns) >= in_tiles(1, 1));
  RC_ASSERT(in_tiles(rows, columns) <=
            slots * slots * test.world * test.batch * test.q_heads);
}

// The plain kernel computes the tiles that it says, exactly; and what the closed form of the stock
// says is held is held, in every case.
RC_GTEST_PROP(ExpectedCounters, AreWhatOursCounts, ()) {
  Case test = *gen::test_case();
  test.kernel = "plain";
  test.device = "cpu";  // a GPU rounds up what is held
  const auto ranks = parity::solve_on_threads({test}, *parity::ours()).ranks;
  const auto expected = expected_counters(test);
  for (int rank = 0; rank < test.world; ++rank) {
    RC_ASSERT(ranks[rank].forward.computed == *expected[rank].most_computed);
    RC_ASSERT(ranks[rank].backward.computed == *expected[rank].most_computed);
    RC_ASSERT(ranks[rank].forward_stock.attending == expected[rank].forward_stock.attending);
    RC_ASSERT(ranks[rank].forward_stock.after == expected[rank].forward_stock.after);
    RC_ASSERT(ranks[rank].backward_stock.attending == expected[rank].backward_stock.attending);
    RC_ASSERT(ranks[rank].backward_stock.after == expected[rank].backward_stock.after);
    RC_ASSERT(ranks[rank].bytes_sent ==
              expected[rank].forward.bytes + expected[rank].backward.bytes);
    RC_ASSERT(ranks[rank].sent_to == expected[rank].sent_to);
    RC_ASSERT(ranks[rank].received_from == expected[rank].received_from);
  }
}

int64_t tiled_pairs(const Case& test, int rank, const TileSize& tile) {
  return parity::pairs_in_tiles(test, expected_counters(test).at(rank).steps, tile);
}

// Two ranks with four slots each: the first sees nothing of the second one's keys.
TEST(ExpectedCounters, AreOfTilesThatSeeSomething) {
  const Case test = parity::parse_case("ring:p2p/contiguous/causal/P2/b1/hq1/hkv1/s8");
  EXPECT_EQ(tiled_pairs(test, 0, {128, 1}), 16);
  EXPECT_EQ(tiled_pairs(test, 1, {128, 1}), 32);
  EXPECT_EQ(tiled_pairs(test, 0, {2, 1}), 2 * 2 + 2 * 4);
  EXPECT_EQ(tiled_pairs(test, 0, {2, 4}), 16);
  EXPECT_EQ(tiled_pairs(parity::parse_case("contiguous/window[2]/P2/b1/hq1/hkv1/s8"), 1, {2, 1}),
            1 * 2 + 2 * 2 + 2 * 3);
}

TEST(ExpectedCounters, HeadTailBalancesACausalMask) {
  EXPECT_EQ(pairs_of_all(parity::parse_case("headtail/causal/P4/b1/hq1/hkv1/s64")),
            std::vector<int64_t>(4, 64 / 8 * 65));
  // A length that does not divide: 2P chunks of two slots, nine tokens.
  EXPECT_EQ(pairs_of_all(parity::parse_case("headtail/causal/P4/b1/hq1/hkv1/s9")),
            (std::vector<int64_t>{3, 7, 11, 24}));
}

// Documents of 4 and 12 tokens on two ranks: contiguous cutting gives 8 positions each but 36
// pairs more to the second rank (pytorch#189902).
TEST(ExpectedCounters, SeeAnImbalanceThatOutputsHide) {
  EXPECT_EQ(pairs_of_all(parity::parse_case("contiguous/doc[4,12]/P2/b1/hq1/hkv1")),
            (std::vector<int64_t>{20, 68}));
}

TEST(ExpectedCounters, AreTheDocumentedOnes) {
  // b2, hkv2, 12 slots, 4 + 6 channels, bf16: a block of 480 elements, 960 bytes, 1920 in float32.
  const auto ring = expected_counters(
      parity::parse_case("ring:p2p/contiguous/full/P3/b2/hq4/hkv2/s36/d4/dv6/bf16")).at(1);
  EXPECT_EQ(ring.forward.bytes, 2 * 960);
  EXPECT_EQ(ring.forward.messages, 2);
  EXPECT_EQ(ring.backward.bytes, 2 * 960 + 3 * 1920);
  EXPECT_EQ(ring.backward.messages, 5);
  EXPECT_EQ(ring.forward.overlapped, 2);
  EXPECT_EQ(ring.backward.overlapped, 3);
  EXPECT_EQ(ring.kv_bytes, 2 * 960);
  EXPECT_EQ(ring.traveller_bytes, 2 * 1920);
  // 96 rows: a partial result of 6 + 1 floats each; O of 6 bf16 and LSE; D; dQ of 4 floats.
  EXPECT_EQ(ring.forward_stock.attending, 2 * 960 + 96 * 7 * 4);
  EXPECT_EQ(ring.forward_stock.after, 96 * (6 * 2 + 4));
  EXPECT_EQ(ring.backward_stock.attending,
            2 * 960 + 2 * 1920 + 96 * (6 * 2 + 4) + 96 * 4 + 96 * 4 * 4);
  EXPECT_EQ(ring.backward_stock.after, 96 * (6 * 2 + 4) + 96 * 4 * 2 + 960);
  EXPECT_EQ(ring.forward.flops, ring.forward.pairs * 2 * 10);
  EXPECT_EQ(ring.backward.flops, ring.backward.pairs * (6 * 4 + 4 * 6));
  EXPECT_EQ(ring.sent_to, (std::vector<int64_t>{0, 0, 4 * 960 + 3 * 1920}));
  const auto gather = expected_counters(
      parity::parse_case("ring:allgather/contiguous/full/P3/b2/hq4/hkv2/s36/d4/dv6/bf16")).at(1);
  EXPECT_EQ(gather.backward.bytes, 2 * 960 + 2 * 1920);
  EXPECT_EQ(gather.backward.messages, 4);
  EXPECT_EQ(gather.forward.overlapped, 0);
  EXPECT_EQ(gather.backward.overlapped, 1);
  EXPECT_EQ(gather.kv_bytes, 4 * 960);
  const auto keep = expected_counters(
      parity::parse_case("ring:allgather[keep]/contiguous/full/P3/b2/hq4/hkv2/s36/d4/dv6/bf16")).at(1);
  EXPECT_EQ(keep.backward.bytes, 2 * 1920);
  // Two ranks of three slots, b2, hq4, hkv2, 4 + 6 channels, bf16: of 24 rows q is 192 bytes, O 288 and
  // LSE 96; K and V of 12 vectors are 240. A half goes to the other rank: q, k, v, O and LSE forward.
  const auto ulysses =
      expected_counters(parity::parse_case("ulysses/contiguous/full/P2/b2/hq4/hkv2/s6/d4/dv6/bf16")).at(1);
  EXPECT_EQ(ulysses.forward.bytes, (192 + 240 + 288 + 96) / 2);
  EXPECT_EQ(ulysses.backward.bytes, (288 + 192 + 240) / 2);  // dO, and dq, dk and dv
  EXPECT_EQ(ulysses.forward.messages, 2 * 5);
  EXPECT_EQ(ulysses.forward.pairs, 2 * 2 * 36);
  EXPECT_EQ(ulysses.forward.steps, 1);
  EXPECT_EQ(ulysses.forward.merges, 0);
  EXPECT_EQ(ulysses.forward.overlapped + ulysses.backward.overlapped, 0);
  EXPECT_EQ(ulysses.sent_to, (std::vector<int64_t>{408 + 360, 0}));
  EXPECT_EQ(ulysses.kv_bytes, 240);  // the own K and V are those that were given
  EXPECT_EQ(ulysses.forward_stock.after, 192 + 240 + 2 * (288 + 96));
  // In two groups as many bytes go in twice the messages, a group while the other is attended; of K and
  // V a half is under way at a time, when those before it are there.
  const auto grouped =
      expected_counters(parity::parse_case("ulysses[2]/contiguous/full/P2/b2/hq8/hkv4/s6/d4/dv6/bf16")).at(1);
  EXPECT_EQ(grouped.forward.bytes, 2 * ulysses.forward.bytes);
  EXPECT_EQ(grouped.backward.messages, 2 * ulysses.backward.messages);
  EXPECT_EQ(grouped.forward.steps, 2);
  EXPECT_EQ(grouped.forward.overlapped, 2);
  EXPECT_EQ(grouped.backward.overlapped, 2);
  EXPECT_EQ(grouped.kv_bytes, 480);
  EXPECT_EQ(grouped.traveller_bytes, 480);
  // Where a shard is no stretch, what arrives, or leaves, of a group lies in a buffer: of K and V a quarter.
  for (const char* balance : {"striped", "headtail"}) {
    const auto scattered = expected_counters(parity::parse_case(
        std::string("ulysses[2]/") + balance + "/full/P2/b2/hq8/hkv4/s6/d4/dv6/bf16")).at(1);
    const int64_t slots = std::string(balance) == "striped" ? 6 : 8, block = 480 * slots / 6;
    EXPECT_EQ(scattered.kv_bytes, block / 4 + 480) << balance;
    EXPECT_EQ(scattered.traveller_bytes, block + block / 4) << balance;
    EXPECT_EQ(scattered.forward.messages, grouped.forward.messages) << balance;
  }
  // The same in two groups of heads: K and V once a pass to the other rank, backward their gradients in
  // float32, 480 bytes. Held is a group in order, and the next one sent and arriving.
  const auto gathered =
      expected_counters(parity::parse_case("gathered/contiguous/full/P2/b2/hq4/hkv2/s6/d4/dv6/bf16")).at(1);
  EXPECT_EQ(gathered.forward.bytes, 240);
  EXPECT_EQ(gathered.forward.messages, 2);
  EXPECT_EQ(gathered.backward.bytes, 240 + 480);
  EXPECT_EQ(gathered.backward.messages, 4);
  EXPECT_EQ(gathered.forward.pairs, 2 * 4 * 18);
  EXPECT_EQ(gathered.forward.steps, 2);
  EXPECT_EQ(gathered.forward.merges, 0);
  EXPECT_EQ(gathered.forward.overlapped, 1);
  EXPECT_EQ(gathered.backward.overlapped, 2);
  EXPECT_EQ(gathered.sent_to, (std::vector<int64_t>{240 + 240 + 480, 0}));
  EXPECT_EQ(gathered.kv_bytes, 240 + 3 * 120);
  EXPECT_EQ(gathered.traveller_bytes, 480 + 3 * 240);
  EXPECT_EQ(gathered.forward_stock.after, 288 + 96);
  const auto alone = expected_counters(parity::parse_case("ring:p2p/P1")).at(0);
  EXPECT_EQ(alone.forward.bytes + alone.backward.bytes + alone.backward.messages, 0);
  EXPECT_EQ(alone.forward.overlapped + alone.backward.overlapped, 0);
}

}  // namespace
}  // namespace ringcheck
