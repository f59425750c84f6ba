// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles.h"

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

// [rows, columns] bool.
at::Tensor hidden(const Tiles& all, Range rows, Range columns) {
  const at::Tensor key = at::arange(columns.begin, columns.begin + columns.size,
                                    all.begin.options());
  const auto of_rows = [&](const at::Tensor& edge) {
    return edge.narrow(0, rows.begin, rows.size).unsqueeze(1);
  };
  return key.lt(of_rows(all.begin)).logical_or_(key.ge(of_rows(all.end)));
}

}  // namespace

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
    for (const Range columns : ranges(runs.keys, tiling.columns)) {
      const int64_t count = visible_pairs(runs, rows, columns);
      if (count == 0)
        continue;
      const bool full = count == rows.size * columns.size;
      strip.tiles.push_back({rows, columns, full ? at::Tensor() : hidden(all, rows, columns)});
    }
  }
  return all;
}

}  // namespace ringcheck::reference
