// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "parity/case/case.h"
#include "parity/judge/tally.h"
#include "parity/judge/verdict.h"
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

// Judges one tensor by the tally of its elements: HARD, STAT and VACUITY of docs/numerics.md, and
// its BIAS.
struct Tallied {
  Tally tally;
  int64_t groups = 1;  // a pair of the tally is a batch entry and one of its groups of heads
  int64_t heads = 1;   // in a group
};
TensorVerdict judge(const Case& test, const std::string& name, const Tallied& tallied);

// A tensor of another shape than it should have.
TensorVerdict misshapen(const std::string& name, at::IntArrayRef actual, at::IntArrayRef expected);

// A tensor that is not there, and one that the subject says it cannot show.
TensorVerdict not_returned(const std::string& name);
TensorVerdict withheld(const std::string& name);

// Tallies and judges one tensor element by element: HARD, STAT and VACUITY of docs/numerics.md.
// All are [batch, heads, seq] or [batch, heads, seq, dim]; value, bound and sigma in float64.
// A NaN fails. Rows without any error allowed (bound 0) are compared exactly and stand outside
// all statistics.
TensorVerdict compare(const Case& test, const std::string& name, const at::Tensor& actual,
                      const at::Tensor& value, const at::Tensor& bound, const at::Tensor& sigma);

// With CHART and BIAS in addition: the calibration of the subject, where there is one.
TensorVerdict charted(const Promise& promise, TensorVerdict verdict);

// Of an oracle, from its tensors: fail before inconclusive before pass.
Status status_of(const std::vector<TensorVerdict>& tensors);
// Of a relation: a tensor of which it shows nothing takes nothing from what the others show.
Status status_of_relation(const std::vector<TensorVerdict>& tensors);

// Where every element was judged exactly.
std::vector<JudgedBy> judged_exactly(const Case& test);
// The same with what failed as findings.
OracleVerdict verdict_of(std::vector<TensorVerdict> tensors);

// Where an element of a tensor of this shape lies, in words: rank, chunk, batch, head, position,
// channel. `flat` counts elements in row-major order.
std::string place_of(const Case& test, at::IntArrayRef sizes, int64_t flat);

// A check at which a zero would pass for this share of the energy does not count.
inline constexpr double kVacuous = 0.02;

}  // namespace ringcheck::parity
