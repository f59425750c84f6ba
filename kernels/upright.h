// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cmath>

namespace ringcheck {

// Kernels that hide a key by a score of -inf before they multiply by the scale want it above 0: below
// it -inf becomes +inf, and at 0 NaN. Its sign goes into q, and into dq; what is left is `strength`.
inline at::Tensor upright(const at::Tensor& x, double scale) {
  if (scale == 0) return at::zeros_like(x);
  return scale < 0 ? x.neg() : x;
}
inline double strength(double scale) { return scale == 0 ? 1 : std::abs(scale); }

}  // namespace ringcheck
