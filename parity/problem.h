// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parity/case.h"

namespace ringcheck::parity {

// The tensors of a Case, in its dtype.
struct Problem {
  at::Tensor q;    // [batch, q_heads, seq, dim]
  at::Tensor k;    // [batch, kv_heads, seq, dim]
  at::Tensor v;    // [batch, kv_heads, seq, dim_v]
  at::Tensor d_o;  // [batch, q_heads, seq, dim_v]

  Problem to(at::Device device, bool copy = false) const;
};

// The whole sequence. Every element is a function of seed, tensor, batch, head, global position
// and channel alone (Philox, Salmon et al. 2011), so it depends neither on the world nor on the
// sharding, threads or machine. Slots without a token hold NaN: they must not matter.
Problem problem_of(const Case& test);

// The slots of one shard, without making the rest.
Problem problem_of(const Case& test, const Positions& positions);

// Makes the tensors of some positions of a case.
using ProblemSource = std::function<Problem(const Case&, const Positions&)>;

// The data families by name, each with a sentence on what it is.
const std::map<std::string, std::string>& data_families();

}  // namespace ringcheck::parity
