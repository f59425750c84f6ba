// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

struct Columns {
  int64_t begin = 0, end = 0;
};

// The slots of `keys` that some query of [first, last) of a batch entry sees, from the first to the last.
Columns seen_by(const Case& test, int64_t entry, const int64_t* first, const int64_t* last,
                const std::vector<int64_t>& keys) {
  const auto slot = [&](int64_t position) {
    return std::ranges::lower_bound(keys, position) - keys.begin();
  };
  Columns all{static_cast<int64_t>(keys.size()), 0};
  for (const int64_t* q = first; q != last; ++q) {
    if (*q >= test.seq) continue;  // a pad
    const int64_t begin = first_key_seen(test, *q), end = begin + keys_seen(test, entry, *q);
    if (const Columns one{slot(begin), slot(end)}; one.begin < one.end)
      all = {std::min(all.begin, one.begin), std::max(all.end, one.end)};
  }
  return all.begin < all.end ? all : Columns{};
}

using Slots = std::vector<int64_t>;

// Of one head of a batch entry.
int64_t in_tiles(const Case& test, int64_t entry, const Slots& queries, const Slots& keys,
                 const TileSize& tile) {
  const auto asking = static_cast<int64_t>(queries.size());
  const auto held = static_cast<int64_t>(keys.size());
  const int64_t rows = std::min(tile.queries, asking), columns = std::min(tile.keys, held);
  int64_t pairs = 0;
  for (int64_t row = 0; row < asking; row += rows) {
    const int64_t end = std::min(asking, row + rows);
    const Columns seen = seen_by(test, entry, queries.data() + row, queries.data() + end, keys);
    const int64_t from = seen.begin / columns * columns;
    const int64_t to = std::min(held, (seen.end + columns - 1) / columns * columns);
    pairs += (end - row) * (to - from);
  }
  return pairs;
}

}  // namespace

int64_t pairs_in_tiles(const Case& test, const std::vector<ExpectedStep>& steps,
                       const TileSize& tile) {
  const std::vector<Slots> shards = slots_of_ranks(test);
  Slots sequence(test.seq);
  std::iota(sequence.begin(), sequence.end(), 0);
  const auto slots_of = [&](int whose) -> const Slots& {
    return whose == ExpectedBlock::kSequence ? sequence : shards.at(whose);
  };
  int64_t pairs = 0;
  for (const auto& [block, forward, backward] : steps)
    pairs += test.q_heads * sum_of_entries(test, [&](int64_t entry) {
               return in_tiles(test, entry, slots_of(block.queries), slots_of(block.keys), tile);
             }) / block.parts;
  return pairs;
}

}  // namespace ringcheck::parity
