// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/largest.h"

#include <cmath>

namespace ringcheck::reports {
namespace {

bool raise(std::optional<double>& largest, double value) {
  if (largest && !std::isnan(value) && !(value > *largest)) return false;
  largest = value;
  return true;
}

}  // namespace

bool Largest::add(const TensorResult& tensor) {
  if (tensor.verdict == Status::kNotApplicable) return false;
  const bool is_largest = raise(error, tensor.hard_ratio);
  raise(sigmas, tensor.max_z);
  if (tensor.verdict == Status::kPass) raise(blind, tensor.vacuity);
  return is_largest;
}

}  // namespace ringcheck::reports
