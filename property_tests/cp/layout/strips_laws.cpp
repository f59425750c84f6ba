// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/strips.h"

#include <gtest/gtest.h>

#include "cp/layout/visibility.h"
#include "parity/case/case.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// A drawn pair of shards of a drawn case.
struct Block {
  Mask mask;
  Positions queries, keys;
};

Block drawn_block() {
  const parity::Case test = *gen::test_case().as("case");
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto rank = [&](const char* name) {
    return layout[*gen::between(0, test.world - 1).as(name)];
  };
  return {parity::mask_of(test), rank("queries of"), rank("keys of")};
}

// What a strip says that its query `row` sees.
SlotRange seen_by(const Strip& strip, int64_t row) {
  const int64_t place = row - strip.row, last = strip.rows - 1;
  switch (strip.kind) {
    case Strip::Kind::kFull: return {strip.column, strip.column + strip.columns};
    case Strip::Kind::kCausal: return {strip.column, strip.column + strip.columns - (last - place)};
    case Strip::Kind::kMirrored: return {strip.column + place, strip.column + strip.columns};
    case Strip::Kind::kBand: return {strip.column + place, strip.column + place + strip.width};
  }
  return {};
}

// The range of a query holds exactly the keys that the mask shows it.
RC_GTEST_PROP(Strips, RangesAreTheMask, ()) {
  const Block block = drawn_block();
  const std::vector<int64_t> queries = flatten(block.queries), keys = flatten(block.keys);
  const std::vector<SlotRange> ranges = visible_slots(block.mask, block.queries, block.keys);
  RC_ASSERT(ranges.size() == queries.size());
  for (size_t row = 0; row < queries.size(); ++row)
    for (int64_t slot = 0; slot < static_cast<int64_t>(keys.size()); ++slot)
      RC_ASSERT((ranges[row].begin <= slot && slot < ranges[row].end) ==
                visible(block.mask, queries[row], keys[slot]));
}

// Every query that sees a key is in one strip, which says what it sees; no other query is in any.
RC_GTEST_PROP(Strips, StripsAreTheRanges, ()) {
  const Block block = drawn_block();
  const std::vector<SlotRange> ranges = visible_slots(block.mask, block.queries, block.keys);
  std::vector<SlotRange> said(ranges.size());
  int64_t end = 0;
  for (const Strip& strip : strips_of(ranges)) {
    RC_ASSERT(strip.row >= end);
    RC_ASSERT(strip.rows > 0);
    end = strip.row + strip.rows;
    for (int64_t row = strip.row; row < end; ++row) {
      said.at(row) = seen_by(strip, row);
      RC_ASSERT(said[row].size() > 0);
      RC_ASSERT(said[row].begin >= strip.column);
      RC_ASSERT(said[row].end <= strip.column + strip.columns);
    }
  }
  RC_ASSERT(said == ranges);
}

std::vector<Strip> strips(const Mask& mask, const Positions& queries, const Positions& keys) {
  return Visibility(mask, queries, keys).strips();
}

// A causal block of one's own keys is one strip, and so is every block of whole shards elsewhere.
TEST(Strips, UsualBlocksAreFewCalls) {
  const Mask causal{Causal{}, 64};
  const Positions headtail{{8, 8}, {48, 8}}, other{{16, 8}, {40, 8}};
  using Kind = Strip::Kind;
  EXPECT_EQ(strips(causal, headtail, headtail),
            (std::vector<Strip>{{Kind::kCausal, 0, 16, 0, 16}}));
  EXPECT_EQ(strips(causal, headtail, other), (std::vector<Strip>{{Kind::kFull, 8, 8, 0, 16}}));
  EXPECT_EQ(strips(causal, other, headtail), (std::vector<Strip>{{Kind::kFull, 0, 16, 0, 8}}));
  const Mask full{Full{}, 64};
  EXPECT_EQ(strips(full, headtail, other), (std::vector<Strip>{{Kind::kFull, 0, 16, 0, 16}}));
  const Mask window{Window{4}, 64};
  EXPECT_EQ(strips(window, {{0, 8}}, {{0, 8}}),
            (std::vector<Strip>{{Kind::kCausal, 0, 4, 0, 4}, {Kind::kBand, 4, 4, 1, 7, 4}}));
  // The rear edge of a window through keys that were before all queries.
  EXPECT_EQ(strips({Window{20}, 64}, {{16, 8}}, {{0, 8}}),
            (std::vector<Strip>{{Kind::kFull, 0, 4, 0, 8}, {Kind::kMirrored, 4, 4, 1, 7}}));
}

// One range a query is all that this can say: keys out of order are refused.
TEST(Strips, KeysOutOfOrderAreRefused) {
  EXPECT_THROW(visible_slots({Causal{}, 8}, {{0, 8}}, {{4, 4}, {0, 4}}), std::invalid_argument);
}

}  // namespace
}  // namespace ringcheck
