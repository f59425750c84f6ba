// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/balancer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// The shards of all ranks together hold every position below the padded length once.
RC_GTEST_PROP(Balancer, ShardsPartitionTheSequence, ()) {
  const gen::Cut cut = *gen::cut().as("cut");
  std::vector<int64_t> seen, expected(cut.padded());
  for (const Positions& shard : cut.layout().queries)
    for (const int64_t position : flatten(shard))
      seen.push_back(position);
  std::ranges::sort(seen);
  std::iota(expected.begin(), expected.end(), 0);
  RC_ASSERT(seen == expected);
}

// All shards have the same number of slots, and no slot too many: less than one granule of pads.
RC_GTEST_PROP(Balancer, ShardsHaveEqualLength, ()) {
  const gen::Cut cut = *gen::cut().as("cut");
  const std::vector<Positions> layout = cut.layout().queries;
  RC_ASSERT(cut.layout().world() == cut.world);
  RC_ASSERT(cut.layout().keys == layout);
  for (const Positions& shard : layout)
    RC_ASSERT(count(shard) * cut.world == cut.padded());
  const int64_t pads = cut.padded() - cut.length();
  RC_ASSERT(pads >= 0);
  RC_ASSERT(pads < cut.entry().granule(cut.sequence.block, cut.world));
}

// A shard ascends: neighbouring slots of a shard are in sequence order.
RC_GTEST_PROP(Balancer, ShardsAscend, ()) {
  const gen::Cut cut = *gen::cut().as("cut");
  for (const Positions& shard : cut.layout().queries) {
    const std::vector<int64_t> slots = flatten(shard);
    RC_ASSERT(std::ranges::adjacent_find(slots, std::greater_equal<>()) == slots.end());
  }
}

// One rank holds the whole sequence in order.
RC_GTEST_PROP(Balancer, OneRankHoldsEverythingInOrder, ()) {
  gen::Cut cut = *gen::cut().as("cut");
  cut.world = 1;
  std::vector<int64_t> expected(cut.padded());
  std::iota(expected.begin(), expected.end(), 0);
  RC_ASSERT(flatten(cut.layout().queries.at(0)) == expected);
}

// The layout is the balancer asked rank by rank, whatever is asked before.
RC_GTEST_PROP(Balancer, LayoutAsksEveryRank, ()) {
  const gen::Cut cut = *gen::cut().as("cut");
  const std::vector<Positions> layout = cut.layout().queries;
  for (int rank = cut.world - 1; rank >= 0; --rank)
    RC_ASSERT(cut.entry().positions(cut.sequence, cut.world, rank) == layout[rank]);
}

struct Size {
  int world;
  int64_t rounds;
};
Size draw() {
  const int world = *gen::world().as("world");
  return {world, *gen::between(1, 4).as("rounds")};
}

Positions shard_of(const char* name, int64_t length, int64_t block, int world, int rank) {
  return Balancers::at(name).positions({{Causal{}, length}, block}, world, rank);
}

// contiguous: slot i of rank r is position r S/P + i.
RC_GTEST_PROP(Balancer, ContiguousIsContiguous, ()) {
  const auto [world, piece] = draw();
  for (int rank = 0; rank < world; ++rank) {
    const auto slots = flatten(shard_of("contiguous", piece * world, 1, world, rank));
    for (int64_t i = 0; i < piece; ++i)
      RC_ASSERT(slots[i] == rank * piece + i);
  }
}

// headtail: rank r holds chunk r and chunk 2P - 1 - r of 2P, in this order.
RC_GTEST_PROP(Balancer, HeadTailTakesOneChunkFromEitherEnd, ()) {
  const auto [world, chunk] = draw();
  for (int rank = 0; rank < world; ++rank) {
    const auto slots = flatten(shard_of("headtail", 2 * chunk * world, 1, world, rank));
    for (int64_t i = 0; i < chunk; ++i) {
      RC_ASSERT(slots[i] == rank * chunk + i);
      RC_ASSERT(slots[chunk + i] == (2 * world - 1 - rank) * chunk + i);
    }
  }
}

// striped[b]: slot i of rank r is position (i / b) P b + r b + i % b.
RC_GTEST_PROP(Balancer, StripedDealsBlocksLikeCards, ()) {
  const auto [world, rounds] = draw();
  const int64_t block = *gen::between(1, 5).as("block");
  for (int rank = 0; rank < world; ++rank) {
    const auto slots = flatten(shard_of("striped", rounds * world * block, block, world, rank));
    for (int64_t i = 0; i < rounds * block; ++i)
      RC_ASSERT(slots[i] == (i / block * world + rank) * block + i % block);
  }
}

// Under a causal mask headtail gives every rank (S/2P)(S+1) pairs where 2P divides S.
RC_GTEST_PROP(Balancer, HeadTailBalancesCausalWorkExactly, ()) {
  const auto [world, chunk] = draw();
  const int64_t length = 2 * chunk * world;
  for (int rank = 0; rank < world; ++rank)
    RC_ASSERT(visible_pairs({Causal{}, length}, shard_of("headtail", length, 1, world, rank),
                            {{0, length}}) == chunk * (length + 1));
}

// The pairs of all ranks are the pairs of the mask: no work is lost or done twice.
RC_GTEST_PROP(Balancer, WorkOfTheRanksAddsUp, ()) {
  const gen::Cut cut = *gen::cut().as("cut");
  const std::vector<Positions> layout = cut.layout().queries;
  const Mask& mask = cut.sequence.mask;
  int64_t pairs = 0, expected = 0;
  for (const Positions& queries : layout)
    for (const Positions& keys : layout)
      pairs += visible_pairs(mask, queries, keys);
  for (int64_t q = 0; q < mask.length; ++q)
    for (int64_t k = 0; k < mask.length; ++k)
      expected += visible(mask, q, k);
  RC_ASSERT(pairs == expected);
}

// S = 9 on four ranks with headtail: 3, 7, 11 and 24 pairs.
TEST(Balancer, UnevenWorkIsCounted) {
  const int64_t expected[] = {3, 7, 11, 24};
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(visible_pairs({Causal{}, 9}, shard_of("headtail", 9, 1, 4, rank), {{0, 9}}),
              expected[rank]);
}

// padded_length is the next multiple.
RC_GTEST_PROP(Balancer, PaddedLengthIsTheNextMultiple, ()) {
  const int64_t length = *gen::between(1, 100).as("length");
  const int64_t granule = *gen::between(1, 40).as("granule");
  const int64_t padded = padded_length(length, granule);
  RC_ASSERT(padded % granule == 0);
  RC_ASSERT(padded >= length);
  RC_ASSERT(padded < length + granule);
}

}  // namespace
}  // namespace ringcheck
