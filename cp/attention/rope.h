// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

#include "cp/layout/positions.h"

namespace ringcheck {

// Rotary position embedding (Su et al., RoFormer, section 3.4.2).
struct Rope {
  enum class Pairing { kNone, kHalf, kInterleaved };  // (c, c + dim/2) or (2c, 2c + 1)
  // Frequency scaling of Llama 3.1: a pair that turns less than `low` times over original_length
  // positions turns `factor` times slower, one that turns more than `high` times as it did, and
  // between them a blend.
  struct Llama3 {
    double factor = 8, low = 1, high = 4, original_length = 8192;
    bool operator==(const Llama3&) const = default;
  };
  Pairing pairing = Pairing::kNone;
  double base = 10000;
  std::optional<Llama3> llama3;
  bool operator==(const Rope&) const = default;
};

// x [batch, heads, slots, dim] rotated, in accumulation type, by the position of each slot inside
// its document. The angle of pair c at position p is p * f_c, f_c = base^(-2c/dim), in float64: in
// float32 it would be off by 0.06 at position 2^20.
at::Tensor rotate(const at::Tensor& x, const Rope& rope, const Mask& mask,
                  const Positions& positions);

// The inverse rotation, which takes gradients back to the unrotated frame.
at::Tensor rotate_back(const at::Tensor& x, const Rope& rope, const Mask& mask,
                       const Positions& positions);
using Rotate =
    std::function<at::Tensor(const at::Tensor&, const Rope&, const Mask&, const Positions&)>;

}  // namespace ringcheck
