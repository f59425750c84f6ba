// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "reference/attention.h"
#include "reference/tiles/tiles.h"

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

// Throws std::invalid_argument on shapes that disagree, and std::logic_error where a global switch
// makes products less than float64.
void check(const Inputs& inputs);

// The (batch, kv head) pairs in runs, such that the matrices of one tile stay small.
std::vector<Range> runs_of_pairs(const Inputs& inputs, const Tiling& tiling);

// The slots that a group is to hold: [n] int64, increasing; undefined for all of them.
struct Slots {
  at::Tensor queries, keys;
};

// A run of pairs of a problem, on a device.
Group grouped(const Inputs& inputs, Range pairs, at::Device device, const Slots& slots = {});

// The rows of x [batch, heads, seq, ...] for a run of pairs and some slots (undefined: all), where
// `heads` is a multiple of the heads of k: [pairs, heads a pair, slots, ...].
at::Tensor rows_of_pairs(const at::Tensor& x, const Inputs& inputs, Range pairs,
                         const at::Tensor& slots);

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
