// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

namespace ringcheck::parity {

// The distance of 1 to the next number of float64, float32, fp16 or bf16.
constexpr double epsilon_of(at::ScalarType dtype) {
  if (dtype == at::kDouble) return 0x1p-52;
  if (dtype == at::kFloat) return 0x1p-23;
  return dtype == at::kHalf ? 0x1p-10 : 0x1p-7;
}

}  // namespace ringcheck::parity
