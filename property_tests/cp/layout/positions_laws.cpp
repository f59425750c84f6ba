// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// flatten(p ++ q) = flatten(p) ++ flatten(q).
RC_GTEST_PROP(Positions, FlattenIsAHomomorphism, ()) {
  const Positions p = *gen::positions(20).as("p"), q = *gen::positions(20).as("q");
  Positions both = p;
  both.insert(both.end(), q.begin(), q.end());
  std::vector<int64_t> expected = flatten(p);
  const std::vector<int64_t> second = flatten(q);
  expected.insert(expected.end(), second.begin(), second.end());
  RC_ASSERT(flatten(both) == expected);
}

// A run is begin, begin + stride, ..., count of them.
RC_GTEST_PROP(Positions, ARunIsAnArithmeticSequence, ()) {
  const Run run{*gen::between(0, 1000).as("begin"), *gen::between(0, 9).as("count"),
                *gen::between(1, 50).as("stride")};
  const std::vector<int64_t> all = flatten({run});
  RC_ASSERT(static_cast<int64_t>(all.size()) == run.count);
  for (int64_t i = 0; i < run.count; ++i)
    RC_ASSERT(all[i] == run.begin + i * run.stride);
}

// count(p) is the number of positions in flatten(p).
RC_GTEST_PROP(Positions, CountIsTheNumberOfPositions, ()) {
  const Positions p = *gen::positions(20).as("p");
  RC_ASSERT(count(p) == static_cast<int64_t>(flatten(p).size()));
}

struct Block {
  Mask mask;
  Positions queries, keys;
};

// Documents may end before or after the sequence does.
Block draw() {
  const int64_t length = *gen::between(1, 24).as("length");
  Mask mask = *gen::mask(length).as("mask");
  mask.length = std::max<int64_t>(0, length + *gen::between(-3, 3).as("longer"));
  return {mask, *gen::positions(length).as("queries"), *gen::positions(length).as("keys")};
}

// visible_pairs counts the pairs of which `visible` holds, pads and repetitions included.
RC_GTEST_PROP(Positions, VisiblePairsCountsThePredicate, ()) {
  const auto [mask, queries, keys] = draw();
  int64_t pairs = 0;
  for (const int64_t q : flatten(queries))
    for (const int64_t k : flatten(keys))
      pairs += visible(mask, q, k);
  RC_ASSERT(visible_pairs(mask, queries, keys) == pairs);
}

// block_mask is `visible` of every pair, row by row.
RC_GTEST_PROP(Positions, BlockMaskIsThePredicate, ()) {
  const auto [mask, queries, keys] = draw();
  std::vector<uint8_t> expected;
  for (const int64_t q : flatten(queries))
    for (const int64_t k : flatten(keys))
      expected.push_back(visible(mask, q, k));
  RC_ASSERT(block_mask(mask, flatten(queries), flatten(keys)).visible == expected);
}

// A block is empty when no pair is visible, full when all are, else partial.
RC_GTEST_PROP(Positions, KindOfABlockIsWhatItsPairsSay, ()) {
  const auto [mask, queries, keys] = draw();
  const BlockMask block = block_mask(mask, flatten(queries), flatten(keys));
  const size_t seen = std::accumulate(block.visible.begin(), block.visible.end(), size_t{0});
  const auto expected = seen == 0                      ? BlockMask::Kind::kEmpty
                        : seen == block.visible.size() ? BlockMask::Kind::kFull
                                                       : BlockMask::Kind::kPartial;
  RC_ASSERT((block.kind == expected));
}

// Each kind of block occurs in the draws above.
TEST(Positions, EveryKindOfBlockExists) {
  const Mask mask{Causal{}, 8};
  EXPECT_EQ(block_mask(mask, {0, 1}, {2, 3}).kind, BlockMask::Kind::kEmpty);
  EXPECT_EQ(block_mask(mask, {2, 3}, {2, 3}).kind, BlockMask::Kind::kPartial);
  EXPECT_EQ(block_mask(mask, {4, 5}, {2, 3}).kind, BlockMask::Kind::kFull);
  EXPECT_EQ(block_mask(mask, {4, 8}, {2, 3}).kind, BlockMask::Kind::kPartial);  // 8 is a pad slot
  EXPECT_EQ(block_mask(mask, {}, {2, 3}).kind, BlockMask::Kind::kEmpty);
}

// Positions far beyond 2^31 are counted like small ones.
TEST(Positions, MillionsOfTokensAreCountedExactly) {
  const int64_t s = int64_t{1} << 40;
  const Positions queries{{s - 4, 4}}, keys{{0, s}};
  EXPECT_EQ(visible_pairs({Causal{}, s}, queries, keys), 4 * s - 6);
  EXPECT_EQ(visible_pairs({Window{1 << 20}, s}, queries, keys), int64_t{4} << 20);
  EXPECT_EQ(visible_pairs({Full{}, s}, queries, {{1, s / 3, 3}}), 4 * (s / 3));
}

}  // namespace
}  // namespace ringcheck
