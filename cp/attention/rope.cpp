// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/rope.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "cp/attention/fused.h"
#include "cp/attention/partial.h"

namespace ringcheck {
namespace {

// Long wavelengths are stretched by `factor`, short ones stay, between them a blend: in more bits than
// are kept, so that its rounding is that of one number, which long positions multiply.
double scaled(double frequency, const Rope::Llama3& s) {
  const long double turns = s.original_length * (frequency / (2 * std::numbers::pi_v<long double>));
  if (turns < s.low) return frequency / s.factor;
  if (turns > s.high) return frequency;
  const long double blend = (turns - s.low) / (s.high - s.low);
  return static_cast<double>((1 - blend) * frequency / s.factor + blend * frequency);
}

at::Tensor frequencies(int64_t dim, const Rope& rope, const at::TensorOptions& options) {
  std::vector<double> f;
  for (int64_t c = 0; c < dim / 2; ++c) {
    const double plain = std::pow(rope.base, -2.0 * static_cast<double>(c) / static_cast<double>(dim));
    f.push_back(rope.llama3 ? scaled(plain, *rope.llama3) : plain);
  }
  return at::tensor(f, at::kDouble).to(options);
}

// The position that a slot has in its own document; positions behind the end count on.
at::Tensor token_positions(const Mask& mask, const Positions& positions,
                           const at::TensorOptions& options) {
  std::vector<int64_t> tokens;
  for (const int64_t slot : flatten(positions)) {
    const Documents* packed = documents(mask);
    const bool in_document = packed != nullptr && place(*packed, slot).document >= 0;
    tokens.push_back(in_document ? place(*packed, slot).token : slot);
  }
  return at::tensor(tokens, at::kLong).to(options);
}

at::Tensor turn(const at::Tensor& x, const Rope& rope, const Mask& mask, const Positions& positions,
                double direction) {
  if (rope.pairing == Rope::Pairing::kNone) return x.to(accumulation_type(x.scalar_type()));
  const auto exact = x.options().dtype(at::kDouble);
  const at::Tensor p = token_positions(mask, positions, exact);
  const at::Tensor f = frequencies(x.size(3), rope, exact);
  const Fused* fused = fused_on(x.device());
  if (fused == nullptr) return turn_by_tensors(x, p, f, rope.pairing, direction);
  return fused->turn(x.contiguous(), p, f, rope.pairing, direction);
}

}  // namespace

at::Tensor turn_by_tensors(const at::Tensor& x, const at::Tensor& positions,
                           const at::Tensor& frequencies, Rope::Pairing pairing, double direction) {
  const at::Tensor wide = x.to(accumulation_type(x.scalar_type()));
  const int64_t dim = x.size(3);
  at::Tensor angles = at::outer(positions, frequencies);  // [slots, dim/2]
  const at::Tensor cos = angles.cos().to(wide.scalar_type());
  const at::Tensor sin = angles.sin_().mul_(direction).to(wide.scalar_type());
  if (pairing == Rope::Pairing::kHalf) {
    const at::Tensor a = wide.narrow(3, 0, dim / 2), b = wide.narrow(3, dim / 2, dim / 2);
    return at::cat({a * cos - b * sin, b * cos + a * sin}, 3);
  }
  const at::Tensor a = wide.slice(3, 0, dim, 2), b = wide.slice(3, 1, dim, 2);
  return at::stack({a * cos - b * sin, b * cos + a * sin}, 4).flatten(3);
}

at::Tensor rotate(const at::Tensor& x, const Rope& rope, const Mask& mask,
                  const Positions& positions) {
  return turn(x, rope, mask, positions, 1);
}

at::Tensor rotate_back(const at::Tensor& x, const Rope& rope, const Mask& mask,
                       const Positions& positions) {
  return turn(x, rope, mask, positions, -1);
}

}  // namespace ringcheck
