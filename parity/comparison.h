// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "parity/case.h"
#include "parity/verdict.h"
#include "reference/attention.h"

namespace ringcheck::parity {

struct NamedTensor {
  const char* name;
  at::Tensor reference::Tensors::*tensor;
};
inline constexpr NamedTensor kTensors[] = {{"o", &reference::Tensors::o},
                                           {"lse", &reference::Tensors::lse},
                                           {"dq", &reference::Tensors::dq},
                                           {"dk", &reference::Tensors::dk},
                                           {"dv", &reference::Tensors::dv}};

// PeerTests one tensor element by element: HARD, STAT and VACUITY of docs/numerics.md.
// All are [batch, heads, seq] or [batch, heads, seq, dim]; value, bound and sigma in float64.
// A NaN fails. Rows without any error allowed (bound 0) are compared exactly and stand outside
// all statistics.
TensorVerdict compare(const Case& test, const std::string& name, const at::Tensor& actual,
                      const at::Tensor& value, const at::Tensor& bound, const at::Tensor& sigma);

// With CHART and BIAS in addition: the calibration of the case's kernel, where there is one.
TensorVerdict charted(const Case& test, TensorVerdict verdict);

// Of an oracle, from its tensors: fail before inconclusive before pass.
Status status_of(const std::vector<TensorVerdict>& tensors);
// The same with what failed as findings.
OracleVerdict verdict_of(std::vector<TensorVerdict> tensors);

// Where an element of a tensor of this shape lies, in words: rank, chunk, batch, head, position,
// channel. `flat` counts elements in row-major order.
std::string place_of(const Case& test, at::IntArrayRef sizes, int64_t flat);

// |error| may exceed the first-order bound by its second order, never by more.
inline constexpr double kHard = 1.001;
// Gaussian tail 1e-15 an element, sub-Gaussian 2.5e-14.
inline constexpr double kStat = 8;
// A check at which a zero would pass for this share of the energy does not count.
inline constexpr double kVacuous = 0.02;

}  // namespace ringcheck::parity
