// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "reference/mask.h"

namespace ringcheck::reference {

// Rotary position embedding (Su et al., RoFormer, section 3.4.2): the pair (a, b) of channels at
// position p becomes (a cos - b sin, a sin + b cos) of the angle p f_c.
struct Rope {
  enum class Pairing { kNone, kHalf, kInterleaved };  // (c, c + dim/2) or (2c, 2c + 1)
  // Frequency scaling of Llama 3.1. A pair that turns less than `low` times in original_length
  // positions is slowed down by `factor`, one that turns more than `high` times is kept; between
  // the two the frequency is interpolated.
  struct Llama3 {
    double factor, low, high, original_length;
  };
  Pairing pairing = Pairing::kNone;
  double base = 10000;
  bool scaled = false;
  Llama3 llama3{};
  // Of the arithmetic in which the implementation that is judged computes its angles: a unit
  // roundoff. The truth's are those of float64, whatever it is.
  double u_angle = 0x1p-53;
};

// The frequency f_c, in radians a position, of each of the dim / 2 channel pairs, base^(-2c / dim)
// before scaling.
std::vector<double> frequencies(const Rope& rope, int64_t dim);

// How far the angle of each pair may be off, in radians a position (docs/numerics.md, (11)), where
// positions are numbers of that arithmetic: below 2^24 in float32.
std::vector<double> angle_error_rates(const Rope& rope, int64_t dim);

// The largest difference, in radians, between an angle in float64 and the same in float32, with
// frequency and product rounded once each.
double single_angles_off(const Mask& mask, const Rope& rope, int64_t dim);

// x [batch, heads, seq, dim] rotated in float64 by the position of each slot inside its document.
// The angle of pair c at position p is p * f_c in float64. Without pairing x as it is, in float64.
// Throws std::invalid_argument where dim is odd.
at::Tensor rotate(const at::Tensor& x, const Mask& mask, const Rope& rope);

// The inverse rotation.
at::Tensor rotate_back(const at::Tensor& x, const Mask& mask, const Rope& rope);

}  // namespace ringcheck::reference
