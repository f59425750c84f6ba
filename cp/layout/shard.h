// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "cp/layout/positions.h"

namespace ringcheck {

// The slots of one rank, taken from a tensor whose `dim` counts global positions. Positions
// beyond the end become zero-filled pad slots.
at::Tensor shard(const at::Tensor& whole, int64_t dim, const Positions& positions);

// The inverse, bit for bit: puts the shards of all ranks, at these positions, together in sequence
// order and drops the slots beyond `length`.
at::Tensor unshard(const std::vector<at::Tensor>& shards, int64_t dim,
                   const std::vector<Positions>& positions, int64_t length);

// The slots without a token.
std::vector<int64_t> pads_of(const Mask& mask, const Positions& positions);

// A copy of x [batch, heads, slots, dim] in which the slots without a token are zero; x itself
// where there are none. `pads`: their indices, on the device of x.
at::Tensor zero_pads(const at::Tensor& x, const at::Tensor& pads);
at::Tensor zero_pads(const at::Tensor& x, const Mask& mask, const Positions& positions);

}  // namespace ringcheck
