// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles/tiles.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

namespace ringcheck::reference {
namespace {

int64_t visible_pairs(const KeyRuns& runs, Range rows, Range columns) {
  const int64_t first = columns.begin, last = columns.begin + columns.size;
  int64_t count = 0;
  for (int64_t q = rows.begin; q < rows.begin + rows.size; ++q)
    count += std::max<int64_t>(
        0, std::min<int64_t>(runs.end[q], last) - std::max<int64_t>(runs.begin[q], first));
  return count;
}

// From the first key that one of the rows sees to the last.
Range seen(const KeyRuns& runs, Range rows) {
  int64_t first = runs.keys, last = 0;
  for (int64_t q = rows.begin; q < rows.begin + rows.size; ++q)
    if (runs.begin[q] < runs.end[q]) {
      first = std::min<int64_t>(first, runs.begin[q]);
      last = std::max<int64_t>(last, runs.end[q]);
    }
  return {std::min(first, last), std::max<int64_t>(0, last - first)};
}

}  // namespace

at::Tensor hidden(const Tile& tile) {
  const at::Tensor key = at::arange(tile.columns.begin, tile.columns.begin + tile.columns.size,
                                    tile.begin.options());
  return key.lt(tile.begin.unsqueeze(1)).logical_or_(key.ge(tile.end.unsqueeze(1)));
}

std::vector<Range> ranges(int64_t length, int64_t size) {
  std::vector<Range> runs;
  for (int64_t begin = 0; begin < length; begin += size)
    runs.push_back({begin, std::min(size, length - begin)});
  return runs;
}

at::Tensor visible_pairs(const Mask& mask, Range queries, Range keys) {
  const at::Tensor pairs = at::empty({queries.size, keys.size}, at::kBool);
  bool* pair = pairs.mutable_data_ptr<bool>();
  for (int64_t q = queries.begin; q < queries.begin + queries.size; ++q)
    for (int64_t k = keys.begin; k < keys.begin + keys.size; ++k)
      *pair++ = visible(mask, q, k);
  return pairs;
}

at::Tensor keys_of_queries(const KeyRuns& runs, at::Device device) {
  return (at::tensor(runs.end, at::kLong) - at::tensor(runs.begin, at::kLong))
      .to(device, at::kDouble);
}

Tiles tiles(const KeyRuns& runs, const Tiling& tiling, at::Device device) {
  if (tiling.rows < 1 || tiling.columns < 1)
    throw std::invalid_argument("a tile has no size");
  const auto edges = [&](const std::vector<int32_t>& edge) {
    return at::tensor(edge, at::kInt).to(device);
  };
  Tiles all{{}, edges(runs.begin), edges(runs.end), {}, {}};
  all.keys = keys_of_queries(runs, device);
  all.queries = at::tensor(queries_of_keys(runs), at::kLong).to(device, at::kDouble);
  for (const Range rows : ranges(runs.queries(), tiling.rows)) {
    Strip& strip = all.strips.emplace_back(Strip{rows, {}});
    const at::Tensor begin = all.begin.narrow(0, rows.begin, rows.size);
    const at::Tensor end = all.end.narrow(0, rows.begin, rows.size);
    const Range keys = seen(runs, rows);
    for (Range columns : ranges(keys.size, tiling.columns)) {
      columns.begin += keys.begin;
      const int64_t count = visible_pairs(runs, rows, columns);
      if (count > 0)
        strip.tiles.push_back({rows, columns, begin, end, count == rows.size * columns.size});
    }
  }
  return all;
}

}  // namespace ringcheck::reference
