// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

namespace ringcheck::reference {
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

Tiles tiles(const Mask& mask, const Tiling& tiling, at::Device device) {
  if (tiling.rows < 1 || tiling.columns < 1)
    throw std::invalid_argument("a tile has no size");
  at::Tensor keys = at::zeros({mask.length}, at::kDouble);
  at::Tensor queries = at::zeros({mask.length}, at::kDouble);
  std::vector<Strip> strips;
  for (const Range rows : ranges(mask.length, tiling.rows)) {
    Strip& strip = strips.emplace_back(Strip{rows, {}});
    for (const Range columns : ranges(mask.length, tiling.columns)) {
      const at::Tensor pairs = visible_pairs(mask, rows, columns);  // [rows, columns]
      const at::Tensor keys_here = pairs.sum(1), queries_here = pairs.sum(0);
      const int64_t count = keys_here.sum().item<int64_t>();
      if (count == 0)
        continue;
      keys.narrow(0, rows.begin, rows.size).add_(keys_here);
      queries.narrow(0, columns.begin, columns.size).add_(queries_here);
      const bool full = count == rows.size * columns.size;
      strip.tiles.push_back({rows, columns, full ? at::Tensor() : pairs.logical_not().to(device)});
    }
  }
  return {std::move(strips), keys.to(device), queries.to(device)};
}

}  // namespace ringcheck::reference
