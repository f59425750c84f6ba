// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/positions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// flatten(p ++ q) = flatten(p) ++ flatten(q).
RC_GTEST_PROP(Positions, FlattenIsAHomomorphism, ()) {
  const Positions p = *gen::positions(20).as("p"), q = *gen::positions(20).as("q");
  std::vector<Span> both = p.spans();
  both.insert(both.end(), q.begin(), q.end());
  std::vector<int64_t> expected = flatten(p);
  const std::vector<int64_t> second = flatten(q);
  expected.insert(expected.end(), second.begin(), second.end());
  RC_ASSERT(flatten(both) == expected);
}

// A span is begin, begin + stride, ..., count of them.
RC_GTEST_PROP(Positions, ASpanIsAnArithmeticSequence, ()) {
  const Span span{*gen::between(0, 1000).as("begin"), *gen::between(0, 9).as("count"),
                  *gen::between(1, 50).as("stride")};
  const std::vector<int64_t> all = flatten({span});
  RC_ASSERT(static_cast<int64_t>(all.size()) == span.count);
  for (int64_t i = 0; i < span.count; ++i)
    RC_ASSERT(all[i] == span.begin + i * span.stride);
}

// Positions ascend where their list does.
RC_GTEST_PROP(Positions, AscendingIsWhatTheListSays, ()) {
  const Positions p = *gen::positions(20).as("p");
  const std::vector<int64_t> all = flatten(p);
  RC_ASSERT(p.ascending() == std::is_sorted(all.begin(), all.end()));
}

// However many spans there are.
TEST(Positions, OfHundredsOfSpansAscendWhereTheirListDoes) {
  for (const int64_t at : {-1, 0, 150, 299}) {
    std::vector<Span> spans;
    for (int64_t i = 0; i < 301; ++i) spans.push_back({3 * i, 2});
    if (at >= 0) std::swap(spans[at], spans[at + 1]);
    EXPECT_EQ(Positions(spans).ascending(), at < 0) << at;
  }
}

// Equal are those of equal spans, whether they share them or not.
RC_GTEST_PROP(Positions, EqualityIsOfSpans, ()) {
  const Positions p = *gen::positions(20).as("p"), q = *gen::positions(20).as("q");
  const Positions copy = p;
  RC_ASSERT(copy == p);
  RC_ASSERT(Positions(p.spans()) == p);
  RC_ASSERT((p == q) == (p.spans() == q.spans()));
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

// Positions far beyond 2^31 are counted like small ones.
TEST(Positions, MillionsOfTokensAreCountedExactly) {
  const int64_t s = int64_t{1} << 40;
  const Positions queries{{s - 4, 4}}, keys{{0, s}};
  EXPECT_EQ(visible_pairs({Causal{}, s}, queries, keys), 4 * s - 6);
  EXPECT_EQ(visible_pairs({Window{1 << 20}, s}, queries, keys), int64_t{4} << 20);
  EXPECT_EQ(visible_pairs({Full{}, s}, queries, {{1, s / 3, 3}}), 4 * (s / 3));
}

// And blocks of more than 2^31 pairs, whose queries and keys follow each other.
TEST(Positions, BillionsOfPairsAreCountedExactly) {
  const int64_t s = int64_t{1} << 20;
  const Positions all{{0, s}};
  EXPECT_EQ(visible_pairs({Full{}, s}, all, all), s * s);
  EXPECT_EQ(visible_pairs({Causal{}, s}, all, all), s * (s + 1) / 2);
  EXPECT_EQ(visible_pairs({Window{s / 2}, s}, all, all), s / 2 * (s / 2 + 1) / 2 + s / 2 * (s / 2));
  EXPECT_EQ(visible_pairs({Prefix{s / 2}, s}, all, all), s / 2 * (s / 2) + (s / 2 + 1 + s) * (s / 2) / 2);
}

}  // namespace
}  // namespace ringcheck
