// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles/key_runs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "property_tests/parity/case/generators.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {
namespace {

Mask drawn_mask() {
  const int64_t length = *gen::between(1, 60).as("length");
  return *gen::mask(length).as("mask");
}

// Some of 0 ... length - 1, in order.
std::vector<int64_t> drawn_subset(int64_t length) {
  std::vector<int64_t> some;
  for (int64_t i = 0; i < length; ++i)
    if (*gen::flag())
      some.push_back(i);
  return some;
}

std::vector<int64_t> all_of(int64_t length) {
  std::vector<int64_t> all(length);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Query rows[i] sees key columns[j] where the predicate says so: pair by pair.
void is_the_predicate(const KeyRuns& runs, const Mask& mask, const std::vector<int64_t>& rows,
                      const std::vector<int64_t>& columns) {
  RC_ASSERT(runs.queries() == static_cast<int64_t>(rows.size()));
  RC_ASSERT(runs.keys == static_cast<int64_t>(columns.size()));
  for (int64_t i = 0; i < runs.queries(); ++i)
    for (int64_t j = 0; j < runs.keys; ++j)
      RC_ASSERT((runs.begin[i] <= j && j < runs.end[i]) == visible(mask, rows[i], columns[j]));
}

RC_GTEST_PROP(KeyRuns, AreThePredicate, ()) {
  const Mask mask = drawn_mask();
  is_the_predicate(key_runs(mask), mask, all_of(mask.length), all_of(mask.length));
}

RC_GTEST_PROP(KeyRuns, OfSomeQueriesAndKeysAreThePredicate, ()) {
  const Mask mask = drawn_mask();
  const KeyRuns runs = key_runs(mask);
  const auto rows = drawn_subset(mask.length), columns = drawn_subset(mask.length);
  is_the_predicate(of_queries(runs, rows), mask, rows, all_of(mask.length));
  is_the_predicate(of_keys(runs, columns), mask, all_of(mask.length), columns);
}

// Behind the length up to which every pair is evaluated, too.
TEST(KeyRuns, AreThePredicateOfLongSequences) {
  constexpr int64_t kLength = 9000;
  const Documents packed{{3000, 3001}, {0, 499}, {1, 1}, {5000, 5499}};
  for (const Mask& mask : {Mask{Full{}, kLength}, Mask{Causal{}, kLength},
                           Mask{Window{700}, kLength}, Mask{DocumentCausal{packed}, kLength},
                           Mask{DocumentFull{packed}, kLength}, Mask{Prefix{4500}, kLength}}) {
    const KeyRuns runs = key_runs(mask);
    int64_t wrong = 0;
    for (int64_t q = 0; q < kLength; q += 7)
      for (int64_t k = 0; k < kLength; ++k)
        wrong += (runs.begin[q] <= k && k < runs.end[q]) != visible(mask, q, k);
    EXPECT_EQ(wrong, 0) << "mask " << mask.kind.index();
  }
}

// The tiles hold every visible pair once and hide every other one.
RC_GTEST_PROP(Tiles, AreThePredicate, ()) {
  const Mask mask = drawn_mask();
  const int64_t rows = *gen::between(1, 64).as("tile rows");
  const int64_t columns = *gen::between(1, 64).as("tile columns");
  const Tiles cut = tiles(key_runs(mask), {.rows = rows, .columns = columns}, at::kCPU);

  at::Tensor seen = at::zeros({mask.length, mask.length}, at::kInt);
  for (const Strip& strip : cut.strips)
    for (const Tile& tile : strip.tiles) {
      const at::Tensor shown = hidden(tile).logical_not();
      RC_ASSERT(shown.any().item<bool>());
      RC_ASSERT(shown.all().item<bool>() == tile.full);
      seen.narrow(0, tile.rows.begin, tile.rows.size)
          .narrow(1, tile.columns.begin, tile.columns.size)
          .add_(shown);
    }
  const at::Tensor pairs =
      visible_pairs(mask, {0, mask.length}, {0, mask.length}).to(at::kInt);
  RC_ASSERT(seen.equal(pairs));
  RC_ASSERT(cut.keys.equal(pairs.sum(1).to(at::kDouble)));
  RC_ASSERT(cut.queries.equal(pairs.sum(0).to(at::kDouble)));
}

}  // namespace
}  // namespace ringcheck::reference
