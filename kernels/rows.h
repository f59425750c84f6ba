// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "cp/attention/partial.h"
#include "cp/layout/strips.h"

namespace ringcheck {

// Up to whole tiles.
inline int64_t whole_tiles(int64_t slots, int64_t tile) { return (slots + tile - 1) / tile * tile; }

// Whether every query is in a strip, and so every row of a result is written.
inline bool every_row(const std::vector<Strip>& strips, int64_t queries) {
  for (const Strip& strip : strips) queries -= strip.rows;
  return queries == 0;
}

// A partial result in which every row is to be written, or that of no key.
inline Partial partial_for(const std::vector<Strip>& strips, std::vector<int64_t> sizes,
                           const at::TensorOptions& options) {
  if (!every_row(strips, sizes[2])) return Partial::identity(sizes, options);
  const auto wide = options.dtype(accumulation_type(c10::typeMetaToScalarType(options.dtype())));
  return {at::empty(sizes, wide), at::empty({sizes[0], sizes[1], sizes[2]}, wide)};
}

// The same of a gradient of the queries.
inline at::Tensor query_gradient_for(const std::vector<Strip>& strips, const at::Tensor& q) {
  const auto wide = q.options().dtype(accumulation_type(q.scalar_type()));
  return every_row(strips, q.size(2)) ? at::empty(q.sizes(), wide) : at::zeros(q.sizes(), wide);
}

}  // namespace ringcheck
