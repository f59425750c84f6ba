// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "reference/attention.h"
#include "reference/tiles.h"

namespace ringcheck::reference {

// Some (batch, kv head) pairs, each with the query heads that share its keys, in float64 and with
// zeros in the pad slots.
struct Group {
  at::Tensor q;    // [pairs, shared, seq, dim]
  at::Tensor k;    // [pairs, seq, dim]
  at::Tensor v;    // [pairs, seq, dim_v]
  at::Tensor d_o;  // [pairs, shared, seq, dim_v]
  double scale = 1;
};

// All pairs of a problem. Throws std::invalid_argument on shapes that disagree, and
// std::logic_error where a global switch makes products less than float64.
Group grouped(const Inputs& inputs);

// The pairs in runs, such that the matrices of one tile stay small.
std::vector<Range> runs_of_pairs(const Group& all, const Tiling& tiling);
Group narrow(const Group& all, Range pairs);

// The results of all runs put together, in the shapes of the problem.
Tensors ungrouped(const std::vector<Tensors>& runs, const Inputs& inputs);

// The rows of a strip with the sharing heads below each other, so that a kv head meets all of them
// in one product: [pairs, shared, seq, n] to [pairs, shared * rows, n]; without n, n is 1.
at::Tensor stacked(const at::Tensor& x, Range rows);

// The inverse: writes a stacked strip to its rows of x.
void unstack(const at::Tensor& x, Range rows, const at::Tensor& strip);

// Writes `value` to the invisible elements of x [pairs, shared * rows, columns].
void hide(const at::Tensor& x, const Tile& tile, double value);

}  // namespace ringcheck::reference
