// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/rope.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <optional>
#include <stdexcept>

#include "reference/tiles/turn.h"

namespace ringcheck::reference {
namespace {

// Llama 3.1: wavelengths beyond original_length / low are stretched by `factor`, those below
// original_length / high are kept, and between the two the frequency is interpolated.
long double scaled_frequency(long double frequency, const Rope::Llama3& llama3) {
  const long double wavelength = 2 * std::numbers::pi_v<long double> / frequency;
  const long double turns = llama3.original_length / wavelength;  // within the original context
  if (turns < llama3.low)
    return frequency / llama3.factor;
  if (turns > llama3.high)
    return frequency;
  const long double smooth = (turns - llama3.low) / (llama3.high - llama3.low);
  return (1 - smooth) * frequency / llama3.factor + smooth * frequency;
}

// d ln scaled_frequency / d ln frequency where it is interpolated, at most: at one of its ends; else 0.
double condition_of_blend(double frequency, const Rope& rope) {
  const auto [factor, low, high, length] = rope.llama3;
  const double turns = length * frequency / (2 * std::numbers::pi);
  if (!rope.scaled || turns < low || turns > high)
    return 0;
  return 1 + (factor - 1) / (high - low) * std::max(low, high / factor);
}

// Of a format with so many significant bits: the last place of x, and what its rounding does to it.
double last_place(double x, int bits) { return std::ldexp(1, std::ilogb(x) + 1 - bits); }
double error_of(long double x, int bits) {
  if (x == 0)
    return 0;
  const double last = last_place(static_cast<double>(x), bits);
  return static_cast<double>(std::abs(std::rint(x / last) * last - x));
}

// Of each slot inside its document, [seq].
at::Tensor positions(const Mask& mask) {
  const Documents* packed = documents(mask);
  const at::Tensor result = at::arange(mask.length, at::kDouble);
  for (int64_t slot = 0; packed && slot < mask.length; ++slot)
    result.mutable_data_ptr<double>()[slot] = static_cast<double>(place(*packed, slot).token);
  return result;
}

// [seq, dim / 2]
at::Tensor times_positions(const Mask& mask, const std::vector<double>& of_pairs, at::Device device) {
  return at::outer(positions(mask), at::tensor(of_pairs, at::kDouble)).to(device);
}

// What was asked for last: a case needs the same several times, and they take long to compute.
struct Remembered {
  Mask mask;
  std::vector<double> of_pairs;
  Turns turns;
};

}  // namespace

// In more bits than a double holds: positions multiply the error.
std::vector<double> frequencies(const Rope& rope, int64_t dim) {
  std::vector<double> result;
  for (int64_t c = 0; c < dim / 2; ++c) {
    const long double frequency = std::pow(static_cast<long double>(rope.base),
                                           -2.L * static_cast<long double>(c) / static_cast<long double>(dim));
    result.push_back(static_cast<double>(
        rope.scaled ? scaled_frequency(frequency, rope.llama3) : frequency));
  }
  return result;
}

std::vector<double> angle_error_rates(const Rope& rope, int64_t dim) {
  const int bits = -std::ilogb(rope.u_angle);
  const std::vector<double> frequency = frequencies(rope, dim);
  std::vector<double> rates;
  for (int64_t c = 0; c < dim / 2; ++c) {
    const double f = frequency[c];
    const long double exponent = 2.L * static_cast<long double>(c) / static_cast<long double>(dim);
    const double plain = std::pow(rope.base, -static_cast<double>(exponent));
    const double blending = condition_of_blend(plain, rope);
    double relative = c == 0 ? 0 : last_place(plain, bits) / plain +
                                       error_of(exponent, bits) * std::abs(std::log(rope.base));
    if (blending > 0)
      relative = blending * (relative + 4 * rope.u_angle);
    const double product = c == 0 && blending == 0 ? 0 : rope.u_angle;  // p and p / factor are exact
    rates.push_back(error_of(f, bits) + f * (relative + product + 2 * 0x1p-53));
  }
  return rates;
}

double single_angles_off(const Mask& mask, const Rope& rope, int64_t dim) {
  const auto last = static_cast<int64_t>(mask.length > 0 ? positions(mask).max().item<double>() : 0);
  double off = 0;
  for (const double frequency : frequencies(rope, dim))
    for (int64_t p = 0; p <= last; ++p) {
      const float angle = static_cast<float>(p) * static_cast<float>(frequency);
      off = std::max(off, std::abs(angle - static_cast<double>(p) * frequency));
    }
  return off;
}

Turns turns(const Mask& mask, const Rope& rope, int64_t dim, at::Device device) {
  if (dim % 2 != 0)
    throw std::invalid_argument("rotary embedding: the head dimension is odd");
  static std::mutex remembering;
  static std::optional<Remembered> last;
  const std::lock_guard lock(remembering);
  const std::vector<double> of_pairs = frequencies(rope, dim);
  if (!last || last->of_pairs != of_pairs || !(last->mask == mask)) {
    const at::Tensor angles = times_positions(mask, of_pairs, at::kCPU);
    last = Remembered{mask, of_pairs, {angles.cos(), angles.sin()}};
  }
  return {last->turns.cos.to(device), last->turns.sin.to(device)};
}

at::Tensor angle_errors(const Mask& mask, const Rope& rope, int64_t dim, at::Device device) {
  return times_positions(mask, angle_error_rates(rope, dim), device).clamp_max_(2);
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
