// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "parity/case.h"
#include "parity/verdict.h"

namespace ringcheck::parity {

// Judges one tensor element by element: HARD, STAT, CHART, BIAS and VACUITY of docs/numerics.md.
// All are [batch, heads, seq] or [batch, heads, seq, dim]; value, bound and sigma in float64.
// A NaN fails. Rows without any error allowed (bound 0) are compared exactly and stand outside
// all statistics.
TensorVerdict compare(const Case& test, const std::string& name, const at::Tensor& actual,
                      const at::Tensor& value, const at::Tensor& bound, const at::Tensor& sigma);

// |error| may exceed the first-order bound by its second order, never by more.
inline constexpr double kHard = 1.001;
// Gaussian tail 1e-15 an element, sub-Gaussian 2.5e-14.
inline constexpr double kStat = 8;
// A check at which a zero would pass for this share of the energy does not count.
inline constexpr double kVacuous = 0.02;

}  // namespace ringcheck::parity
