// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "parity/case.h"
#include "parity/tally.h"
#include "parity/verdict.h"

namespace ringcheck::parity {

// Judges one tensor by the tally of its elements: HARD, STAT, BIAS and VACUITY of docs/numerics.md,
// and CHART where the tally is of all elements. A NaN fails. Rows without any error allowed (bound
// 0) are compared exactly and stand outside all statistics.
struct Tallied {
  Tally tally;
  int64_t groups = 1;    // a pair of the tally is a batch entry and one of its groups of heads
  int64_t heads = 1;     // in a group
  bool complete = true;  // of all elements, not of a sample
};
TensorVerdict judge(const Case& test, const std::string& name, const Tallied& tallied);

// A tensor of another shape than it should have.
TensorVerdict misshapen(const std::string& name, at::IntArrayRef actual, at::IntArrayRef expected);

// A check at which a zero would pass for this share of the energy does not count.
inline constexpr double kVacuous = 0.02;

}  // namespace ringcheck::parity
