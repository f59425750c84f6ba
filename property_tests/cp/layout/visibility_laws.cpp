// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/visibility.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// Any mask and any positions: repeated ones, pads, and keys in order or out of it. Documents may
// end before or after the sequence does.
struct Block {
  Mask mask;
  Positions queries, keys;

  std::vector<std::vector<bool>> predicate() const {
    std::vector<std::vector<bool>> rows;
    for (const int64_t q : flatten(queries)) {
      rows.emplace_back();
      for (const int64_t k : flatten(keys)) rows.back().push_back(visible(mask, q, k));
    }
    return rows;
  }
};

Block draw() {
  const int64_t length = *gen::between(1, 24).as("length");
  Mask mask = *gen::mask(length).as("mask");
  mask.length = std::max<int64_t>(0, length + *gen::between(-3, 3).as("longer"));
  const Positions queries = *gen::positions(length).as("queries");
  const Positions keys = *gen::positions(length).as("keys");
  if (*gen::flag().as("keys in any order")) return {mask, queries, keys};
  std::vector<int64_t> sorted = flatten(keys);
  std::ranges::sort(sorted);
  std::vector<Span> spans;
  for (const int64_t key : sorted) spans.push_back({key, 1});
  return {mask, queries, spans};
}

int64_t seen(const std::vector<std::vector<bool>>& rows) {
  int64_t sum = 0;
  for (const auto& row : rows) sum += std::ranges::count(row, true);
  return sum;
}

// The pairs are those of which `visible` holds; empty and full is what they say.
RC_GTEST_PROP(Visibility, PairsAreThoseOfThePredicate, ()) {
  const Block block = draw();
  const Visibility visibility(block.mask, block.queries, block.keys);
  const int64_t pairs = seen(block.predicate());
  RC_ASSERT(visibility.pairs() == pairs);
  RC_ASSERT(visibility.empty() == (pairs == 0));
  RC_ASSERT(visibility.full() ==
            (pairs > 0 && pairs == count(block.queries) * count(block.keys)));
}

// The slots of a query are the keys that the predicate shows it, also as tensors; keys out of order
// have none.
RC_GTEST_PROP(Visibility, SlotsAreThePredicate, ()) {
  const Block block = draw();
  const Visibility visibility(block.mask, block.queries, block.keys);
  if (!block.keys.ascending()) {
    RC_ASSERT_THROWS_AS(visibility.slots(), std::invalid_argument);
    return;
  }
  const auto rows = block.predicate();
  RC_ASSERT(visibility.slots().size() == rows.size());
  const SlotTensors& tensors = visibility.slots_on(at::kCPU);
  for (size_t row = 0; row < rows.size(); ++row) {
    const SlotRange range = visibility.slots()[row];
    const auto at = static_cast<int64_t>(row);
    RC_ASSERT(tensors.begin[at].item<int64_t>() == range.begin);
    RC_ASSERT(tensors.end[at].item<int64_t>() == range.end);
    for (int64_t slot = 0; slot < static_cast<int64_t>(rows[row].size()); ++slot)
      RC_ASSERT((range.begin <= slot && slot < range.end) == rows[row][slot]);
  }
}

// A tile is the predicate of its rows; what lies beside its columns nobody in them sees.
RC_GTEST_PROP(Visibility, ATileIsThePredicate, ()) {
  const Block block = draw();
  const auto rows = block.predicate();
  RC_PRE(!rows.empty());
  const auto last = static_cast<int64_t>(rows.size());
  const int64_t row = *gen::between(0, last - 1).as("row");
  const int64_t many = *gen::between(1, last - row).as("rows");
  const Tile tile = Visibility(block.mask, block.queries, block.keys).tile(row, many);
  const auto [first, end] = tile.columns;
  for (int64_t i = 0; i < many; ++i)
    for (int64_t slot = 0; slot < count(block.keys); ++slot) {
      const bool inside = first <= slot && slot < end;
      const bool shown = inside && (tile.visible.empty() ||
                                    tile.visible[i * (end - first) + slot - first] != 0);
      RC_ASSERT(shown == rows[row + i][slot]);
    }
}

// No tile is wider than what is seen: its first and its last column are.
RC_GTEST_PROP(Visibility, ATileIsNoWiderThanWhatIsSeen, ()) {
  const Block block = draw();
  const auto rows = block.predicate();
  const Tile tile = Visibility(block.mask, block.queries, block.keys).tile(0, rows.size());
  const auto any = [&](int64_t slot) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row[slot]; });
  };
  RC_ASSERT((tile.columns.size() == 0) == (seen(rows) == 0));
  if (tile.columns.size() == 0) return;
  RC_ASSERT(any(tile.columns.begin));
  RC_ASSERT(any(tile.columns.end - 1));
}

// A copy shares what was computed; the same positions give the same visibility, others another.
RC_GTEST_PROP(Visibility, IsMadeOncePerPairOfPositions, ()) {
  const Block block = draw();
  Visibilities all(block.mask);
  const Visibility& first = all.of(block.queries, block.keys);
  const Visibility& other = all.of({{100, 3}}, block.keys);
  RC_ASSERT(&all.of(Positions(block.queries.spans()), block.keys) == &first);
  RC_ASSERT(&all.of({{100, 3}}, block.keys) == &other);
  RC_ASSERT((&first == &other) == (block.queries == Positions{{100, 3}}));
  if (!block.keys.ascending()) return;
  const Visibility copy = first;
  RC_ASSERT(&copy.slots() == &first.slots());
  RC_ASSERT(&copy.strips() == &first.strips());
}

// Shards of many short spans count their pairs by slots, others span by span: with the same result.
RC_GTEST_PROP(Visibility, PairsDoNotDependOnHowPositionsAreWritten, ()) {
  const int64_t length = *gen::between(200, 600).as("length");
  const Mask mask = *gen::mask(length).as("mask");
  const Positions whole{{0, length}};
  std::vector<Span> single;
  for (int64_t p = 0; p < length; ++p) single.push_back({p, 1});
  RC_ASSERT(Visibility(mask, single, single).pairs() == Visibility(mask, whole, whole).pairs());
}

}  // namespace
}  // namespace ringcheck
