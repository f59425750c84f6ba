// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::parity {

// How small an error is still seen: the smallest relative error of something that is detected in
// at least 95 % of the trials.
struct Limit {
  std::string dtype;
  std::string what;   // a tensor, or what inside the subject is wrong
  std::string scope;  // element | row | chunk | rank | tensor | inside
  std::string by;     // hard | stat | chart | parity (any of the three), or a peer test
  std::optional<double> epsilon;  // nothing: no error up to 100 is detected
};

struct SensitivityOptions {
  std::vector<at::ScalarType> dtypes{at::kDouble, at::kFloat, at::kBFloat16, at::kHalf};
  int trials = 20;              // seeds; each plants elsewhere
  bool others = true;           // the tests of other projects, too
  std::function<void()> tick;   // called after every trial
  std::string kernel = Case{}.kernel;
};

// The case whose outcomes are spoilt; it is one of those at which charts are calibrated.
Case sensitivity_case(at::ScalarType dtype, const std::string& kernel = Case{}.kernel);

// By bisection on a grid of 8 steps a decade, around what the trial before it said. An element is
// one at least as large as the root mean square of its tensor. What changes a whole tensor, or
// happens inside the subject, is also wrong on one rank, with which other projects compare. In the
// dtypes that the kernel takes; throws BadCase where there is none.
std::vector<Limit> sensitivity(const SensitivityOptions& options);

}  // namespace ringcheck::parity
