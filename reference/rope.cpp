// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/rope.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "reference/tiles/turn.h"

namespace ringcheck::reference {
namespace {

// Llama 3.1: wavelengths beyond original_length / low are stretched by `factor`, those below
// original_length / high are kept, and between the two the frequency is interpolated, in more bits
// than a double holds: positions multiply its error.
double scaled_frequency(double frequency, const Rope::Llama3& llama3) {
  const long double wavelength = 2 * std::numbers::pi_v<long double> / frequency;
  const long double turns = llama3.original_length / wavelength;  // within the original context
  if (turns < llama3.low)
    return frequency / llama3.factor;
  if (turns > llama3.high)
    return frequency;
  const long double smooth = (turns - llama3.low) / (llama3.high - llama3.low);
  return static_cast<double>((1 - smooth) * frequency / llama3.factor + smooth * frequency);
}

double single(double x) { return static_cast<float>(x); }

}  // namespace

std::vector<double> frequencies(const Rope& rope, int64_t dim) {
  std::vector<double> result;
  for (int64_t c = 0; c < dim / 2; ++c) {
    double frequency = std::pow(rope.base, -2. * static_cast<double>(c) / static_cast<double>(dim));
    if (rope.scaled)
      frequency = scaled_frequency(frequency, rope.llama3);
    result.push_back(rope.single_angles ? single(frequency) : frequency);
  }
  return result;
}

Turns turns(const Mask& mask, const Rope& rope, int64_t dim, at::Device device) {
  if (dim % 2 != 0)
    throw std::invalid_argument("rotary embedding: the head dimension is odd");
  const std::vector<double> frequency = frequencies(rope, dim);
  const Documents* packed = documents(mask);
  const at::Tensor angles = at::empty({mask.length, dim / 2}, at::kDouble);
  double* angle = angles.mutable_data_ptr<double>();
  for (int64_t slot = 0; slot < mask.length; ++slot) {
    const double position = static_cast<double>(packed ? place(*packed, slot).token : slot);
    for (const double f : frequency)
      *angle++ = rope.single_angles ? single(single(position) * f) : position * f;
  }
  return {angles.cos().to(device), angles.sin().to(device)};
}

at::Tensor mix_pairs(const at::Tensor& x, Rope::Pairing pairing, const at::Tensor& straight,
                     const at::Tensor& from_b, const at::Tensor& from_a) {
  const int64_t half = x.size(-1) / 2;
  const bool interleaved = pairing == Rope::Pairing::kInterleaved;
  const at::Tensor pairs = interleaved ? x.unflatten(-1, {half, 2}) : x.unflatten(-1, {2, half});
  const int64_t side = interleaved ? -1 : -2;
  const at::Tensor a = pairs.select(side, 0), b = pairs.select(side, 1);
  return at::stack({straight * a + from_b * b, from_a * a + straight * b}, side).view(x.sizes());
}

at::Tensor rotate(const at::Tensor& x, const Mask& mask, const Rope& rope) {
  const at::Tensor exact = x.to(at::kDouble);
  if (rope.pairing == Rope::Pairing::kNone)
    return exact;
  const auto [cos, sin] = turns(mask, rope, x.size(-1), x.device());
  return mix_pairs(exact, rope.pairing, cos, -sin, sin);
}

at::Tensor rotate_back(const at::Tensor& x, const Mask& mask, const Rope& rope) {
  const at::Tensor exact = x.to(at::kDouble);
  if (rope.pairing == Rope::Pairing::kNone)
    return exact;
  const auto [cos, sin] = turns(mask, rope, x.size(-1), x.device());
  return mix_pairs(exact, rope.pairing, cos, sin, -sin);
}

}  // namespace ringcheck::reference
