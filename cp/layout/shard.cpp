// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/shard.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "cp/layout/upload.h"

namespace ringcheck {
namespace {

// Slots of a shard that hold a position below `length`, and the positions themselves.
struct Kept {
  std::vector<int64_t> slots, positions;
};

Kept kept(const Positions& positions, int64_t length) {
  Kept result;
  int64_t slot = 0;
  for (const int64_t position : flatten(positions)) {
    if (position < length) {
      result.slots.push_back(slot);
      result.positions.push_back(position);
    }
    ++slot;
  }
  return result;
}

}  // namespace

at::Tensor shard(const at::Tensor& whole, int64_t dim, const Positions& positions) {
  auto sizes = whole.sizes().vec();
  const Kept own = kept(positions, sizes[dim]);
  const at::Tensor tokens = whole.index_select(dim, uploaded(own.positions, whole.device()));
  sizes[dim] = count(positions);
  if (tokens.size(dim) == sizes[dim]) return tokens;
  return at::zeros(sizes, whole.options()).index_copy_(dim, uploaded(own.slots, whole.device()), tokens);
}

at::Tensor unshard(const std::vector<at::Tensor>& shards, int64_t dim,
                   const std::vector<Positions>& positions, int64_t length) {
  auto sizes = shards.at(0).sizes().vec();
  sizes[dim] = length;
  at::Tensor whole = at::zeros(sizes, shards[0].options());
  for (size_t rank = 0; rank < positions.size(); ++rank) {
    const Kept own = kept(positions[rank], length);
    whole.index_copy_(dim, uploaded(own.positions, whole.device()),
                      shards.at(rank).index_select(dim, uploaded(own.slots, whole.device())));
  }
  return whole;
}

std::vector<int64_t> pads_of(const Mask& mask, const Positions& positions) {
  std::vector<int64_t> pads;
  int64_t slot = 0;
  for (const int64_t position : flatten(positions)) {
    if (!is_token(mask, position)) pads.push_back(slot);
    ++slot;
  }
  return pads;
}

at::Tensor zero_pads(const at::Tensor& x, const at::Tensor& pads) {
  return pads.numel() == 0 ? x : x.index_fill(2, pads, 0);
}

at::Tensor zero_pads(const at::Tensor& x, const Mask& mask, const Positions& positions) {
  return zero_pads(x, uploaded(pads_of(mask, positions), x.device()));
}

}  // namespace ringcheck
