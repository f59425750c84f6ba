// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/tally.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>

#include "parity/judge/elements/by_position.h"

namespace ringcheck::parity {
namespace {

// Of an element of a part, by its number in row-major order.
int64_t position_of(const Compared& part, int64_t flat) {
  const at::IntArrayRef sizes = part.value.sizes();
  return part.positions.at((sizes.size() == 4 ? flat / sizes[3] : flat) % sizes[2]);
}

// With its numbers, for each of which a device is waited for.
Worst element(const Compared& part, double ratio, int64_t flat) {
  const auto there = [flat](const at::Tensor& x) {
    return x.contiguous().view(-1)[flat].to(at::kDouble).item<double>();
  };
  Worst w{.ratio = ratio, .actual = there(part.actual), .value = there(part.value),
          .bound = there(part.bound), .sigma = there(part.sigma)};
  w.position = position_of(part, flat);
  const at::IntArrayRef sizes = part.value.sizes();
  if (sizes.size() == 4) {
    w.channel = flat % sizes[3];
    flat /= sizes[3];
  }
  w.shared = flat / sizes[2] % sizes[1];
  w.pair = part.first_pair + flat / sizes[2] / sizes[1];
  return w;
}

void add_to(std::vector<double>& sums, const std::vector<double>& values) {
  if (sums.empty()) sums.resize(values.size(), 0);
  std::transform(values.begin(), values.end(), sums.begin(), sums.begin(), std::plus<>());
}

std::vector<PositionTally> slots_of(const Compared& part) {
  const at::Device device = part.value.device();
  const auto dense = [&](const at::Tensor& x) { return x.to(device).to(at::kDouble).contiguous(); };
  const at::Tensor actual = dense(part.actual), value = dense(part.value),
                   bound = dense(part.bound), sigma = dense(part.sigma);
  const auto elements = [](const at::Tensor& x) { return x.const_data_ptr<double>(); };
  return by_position({.actual = elements(actual), .value = elements(value),
                      .bound = elements(bound), .sigma = elements(sigma),
                      .rows = value.size(0) * value.size(1), .slots = value.size(2),
                      .channels = value.dim() == 4 ? value.size(3) : 1},
                     device);
}

}  // namespace

Tally tally(const Compared& part, int64_t seq) {
  const std::vector<PositionTally> slots = slots_of(part);
  PositionTally all;
  for (const PositionTally& slot : slots) all.add(slot);
  const auto by_slot = [&](double PositionTally::*field) {
    std::vector<double> values(seq, 0);
    for (size_t slot = 0; slot < slots.size(); ++slot)
      values.at(part.positions.at(slot)) = slots[slot].*field;
    return values;
  };
  Tally t{.max_abs = all.max_abs, .hard_ratio = all.hard_ratio, .max_z = all.max_z,
          .z_squares = all.z_squares, .error_squares = all.error_squares,
          .value_squares = all.value_squares,
          .compared = by_slot(&PositionTally::compared),
          .elements = by_slot(&PositionTally::elements),
          .signed_z = by_slot(&PositionTally::signed_z),
          .energy = by_slot(&PositionTally::energy),
          .vacuous = by_slot(&PositionTally::vacuous),
          .hard = {},
          .stat = {}};
  if (all.max_z > 0) t.worst_position = position_of(part, all.stat_at);
  if (!(t.hard_ratio <= kHard)) t.hard = element(part, all.hard_ratio, all.hard_at);
  if (!(t.max_z <= kStat)) t.stat = element(part, all.max_z, all.stat_at);
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
