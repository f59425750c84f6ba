// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include "parity/case/case.h"

namespace ringcheck::parity {

// The tensors of a Case, in its dtype.
struct Problem {
  at::Tensor q;    // [batch, q_heads, seq, dim]
  at::Tensor k;    // [batch, kv_heads, seq, dim]
  at::Tensor v;    // [batch, kv_heads, seq, dim_v]
  at::Tensor d_o;  // [batch, q_heads, seq, dim_v]

  Problem to(at::Device device, bool copy = false) const;
};

// The same numbers, an element into memory of their own: off every boundary at which memory is allocated. Problem::to keeps that.
at::Tensor one_into_memory(const at::Tensor& x);

// The whole sequence, as the data family of the case says. Every element is a function of seed,
// mask, tensor, batch, head, global position and channel alone, so it depends neither on the world
// nor on the sharding, threads or machine. Slots without a token hold NaN: they must not matter.
Problem problem_of(const Task& test);

// The slots of one shard, without making the rest.
Problem problem_of(const Task& test, const Positions& positions);

// Writes `value` to the slots of x [batch, heads, slots, ...] that hold no token of their batch entry.
void fill_pads(const Task& test, const Positions& positions, const at::Tensor& x, double value);
// The whole sequence, x [batch, heads, seq, ...], with zeros there; x itself where there are none.
at::Tensor without_pads(const Task& test, const at::Tensor& x);

// Makes the tensors of some positions of a case.
using ProblemSource = std::function<Problem(const Case&, const Positions&)>;

}  // namespace ringcheck::parity
