// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

struct Columns {
  int64_t begin = 0, end = 0;
};

// The slots of `keys` that some query of [first, last) sees, from the first to the last.
Columns seen_by(const Case& test, const int64_t* first, const int64_t* last,
                const std::vector<int64_t>& keys) {
  const auto slot = [&](int64_t position) {
    return std::ranges::lower_bound(keys, position) - keys.begin();
  };
  Columns all{static_cast<int64_t>(keys.size()), 0};
  for (const int64_t* q = first; q != last; ++q) {
    if (*q >= test.seq) continue;  // a pad
    const int64_t begin = first_key_seen(test, *q), end = begin + keys_seen(test, *q);
    if (const Columns one{slot(begin), slot(end)}; one.begin < one.end)
      all = {std::min(all.begin, one.begin), std::max(all.end, one.end)};
  }
  return all.begin < all.end ? all : Columns{};
}

}  // namespace

int64_t pairs_in_tiles(const Case& test, int rank, const TileSize& tile) {
  const std::vector<std::vector<int64_t>> slots = slots_of_ranks(test);
  const std::vector<int64_t>& queries = slots.at(rank);
  const auto count = static_cast<int64_t>(queries.size());
  const int64_t rows = std::min(tile.queries, count), columns = std::min(tile.keys, count);
  int64_t pairs = 0;
  for (const std::vector<int64_t>& keys : slots)
    for (int64_t row = 0; row < count; row += rows) {
      const int64_t end = std::min(count, row + rows);
      const Columns seen = seen_by(test, queries.data() + row, queries.data() + end, keys);
      const int64_t from = seen.begin / columns * columns;
      const int64_t to = std::min(count, (seen.end + columns - 1) / columns * columns);
      pairs += (end - row) * (to - from);
    }
  return pairs * test.batch * test.q_heads;
}

}  // namespace ringcheck::parity
