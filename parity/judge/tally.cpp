// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/tally.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <limits>

#ifdef __FAST_MATH__
#error "a comparison compiled with fast-math lets NaN through"
#endif

namespace ringcheck::parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums over all but the slots, put to the positions of these.
std::vector<double> by_position(const at::Tensor& x, const Compared& part, int64_t seq) {
  std::vector<int64_t> others{0, 1};
  if (x.dim() == 4) others.push_back(3);
  const at::Tensor sums = x.sum(others, false, at::kDouble).cpu().contiguous();
  const double* sum = sums.const_data_ptr<double>();
  std::vector<double> values(seq, 0);
  for (size_t slot = 0; slot < part.positions.size(); ++slot)
    values.at(part.positions[slot]) = sum[slot];
  return values;
}

// |actual - value|; equal infinities differ by nothing.
at::Tensor distance(const at::Tensor& actual, const at::Tensor& value) {
  return (actual - value).abs_().masked_fill_(actual.eq(value), 0);
}

// Sum of squares; what is infinite in the truth (LSE of a query that sees nothing) is left out.
double finite_squares(const at::Tensor& x) {
  return x.masked_fill(x.isinf(), 0).square_().sum().item<double>();
}

double largest(const at::Tensor& x) { return x.numel() > 0 ? x.max().item<double>() : 0; }

int64_t position_of_largest(const at::Tensor& x, const Compared& part) {
  const int64_t flat = x.argmax().item<int64_t>();
  return part.positions.at((x.dim() == 4 ? flat / x.size(3) : flat) % x.size(2));
}

// Where the ratio is largest, and what is there.
Worst worst(const at::Tensor& ratio, const at::Tensor& actual, const Compared& part) {
  int64_t flat = ratio.argmax().item<int64_t>();
  const auto there = [flat](const at::Tensor& x) {
    return x.contiguous().view(-1)[flat].item<double>();
  };
  Worst w{.ratio = there(ratio), .actual = there(actual), .value = there(part.value),
          .bound = there(part.bound), .sigma = there(part.sigma)};
  if (ratio.dim() == 4) {
    w.channel = flat % ratio.size(3);
    flat /= ratio.size(3);
  }
  w.position = part.positions.at(flat % ratio.size(2));
  w.shared = flat / ratio.size(2) % ratio.size(1);
  w.pair = part.first_pair + flat / ratio.size(2) / ratio.size(1);
  return w;
}

void add_to(std::vector<double>& sums, const std::vector<double>& values) {
  if (sums.empty()) sums.resize(values.size(), 0);
  std::transform(values.begin(), values.end(), sums.begin(), sums.begin(), std::plus<>());
}

}  // namespace

Tally tally(const Compared& part, int64_t seq) {
  const at::Tensor& value = part.value;
  const at::Tensor actual = part.actual.to(value.device(), at::kDouble);
  const at::Tensor outside = part.sigma.gt(0).logical_not_();
  Tally t;
  {
    const at::Tensor error = distance(actual, value);
    t.error_squares = finite_squares(error);
    t.max_abs = largest(error.nan_to_num(kInfinity, kInfinity));
    // 0 / 0 is no error; anything over 0 is infinitely too much, as is NaN.
    const at::Tensor ratio =
        (error / part.bound).masked_fill_(error.eq(0), 0).nan_to_num_(kInfinity, kInfinity);
    t.hard_ratio = largest(ratio);
    if (!(t.hard_ratio <= kHard)) t.hard = worst(ratio, actual, part);
  }
  {
    at::Tensor z = (actual - value).div_(part.sigma).masked_fill_(outside, 0);
    const at::Tensor size = z.abs().nan_to_num_(kInfinity, kInfinity);
    t.max_z = largest(size);
    if (t.max_z > 0) t.worst_position = position_of_largest(size, part);
    t.z_squares = size.square().sum().item<double>();
    if (!(t.max_z <= kStat)) t.stat = worst(size, actual, part);
    t.signed_z = by_position(z.mul_(value.masked_fill(outside, 0).sign_()), part, seq);
  }
  t.value_squares = finite_squares(value);
  t.compared = by_position(at::ones_like(outside, at::kDouble), part, seq);
  t.elements = by_position(outside.logical_not(), part, seq);
  at::Tensor energy = value.masked_fill(outside, 0);
  const at::Tensor counts = energy.abs().gt(part.sigma * kStat);
  t.energy = by_position(energy.square_(), part, seq);
  t.vacuous = by_position(energy.masked_fill_(counts, 0), part, seq);
  return t;
}

void Tally::add(const Tally& other) {
  max_abs = std::max(max_abs, other.max_abs);
  hard_ratio = std::max(hard_ratio, other.hard_ratio);
  if (other.max_z > max_z) worst_position = other.worst_position;
  max_z = std::max(max_z, other.max_z);
  z_squares += other.z_squares;
  error_squares += other.error_squares;
  value_squares += other.value_squares;
  add_to(compared, other.compared);
  add_to(elements, other.elements);
  add_to(signed_z, other.signed_z);
  add_to(energy, other.energy);
  add_to(vacuous, other.vacuous);
  if (other.hard.ratio > hard.ratio) hard = other.hard;
  if (other.stat.ratio > stat.ratio) stat = other.stat;
}

}  // namespace ringcheck::parity
