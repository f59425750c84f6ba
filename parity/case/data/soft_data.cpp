// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/data/soft_data.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ringcheck::parity {
namespace {

bool has_16_bits(const Case& test) { return c10::elementSize(test.dtype) == 2; }

// How many keys a slot sees, on average.
double keys_of_a_query(const Task& task) {
  const Positions all{{0, task.seq}};
  return static_cast<double>(visible_pairs(mask_of(task), all, all)) /
         static_cast<double>(task.seq);
}

// Scores are wide by their data, and wider by a scale above the usual one.
bool has_wide_scores(const Case& test) {
  static const std::set<std::string> wide{"spread3", "normal", "outliers", "offset", "ones", "wide"};
  return wide.contains(test.data);
}

double sharpness(const Case& test) {
  return std::abs(scale_of(test)) * std::sqrt(static_cast<double>(test.dim));
}

// The standard deviation that an element of dK would have with data `wide`, were every key seen by as much as one query of
// each head sees in all: dP is a sum of dim_v products of dO and V, each 20 wide; dS times q, whose scores are 3 wide,
// is added up over the query heads of a group.
double size_of_wide_gradients(const Case& test) {
  constexpr double kWide = 20.5;
  const double group = static_cast<double>(test.q_heads) / static_cast<double>(test.kv_heads);
  const double scale = std::abs(scale_of(test)), q = std::sqrt(3 / std::max(1e-30, scale * std::sqrt(static_cast<double>(test.dim))));
  return kWide * kWide * std::sqrt(static_cast<double>(test.dim_v) * group) * scale * q;
}

// Of as many elements as a case has, none comes to eight standard deviations of what its own keys see.
constexpr double kMostInHalf = 65504.0 / 8;

}  // namespace

// Equal keys round all scores of a row alike, large ones hide what else there is, and half floats end at 65504.
void soften(Case& test) {
  if (test.data == "wide" && test.dtype == at::kHalf && size_of_wide_gradients(test) > kMostInHalf) test.data = "spread3";
  if (test.data == "peaked" && has_16_bits(test) && (keys_of_a_query(test) < 4 || test.dim < 4))
    test.data = "spread3";
  if (has_wide_scores(test) && sharpness(test) >= 4) test.data = "flat";
  if (has_wide_scores(test) && sharpness(test) > 2) test.data = "normal";
  if ((test.data == "peaked" || test.data == "equal-keys") && sharpness(test) > 1) test.scale.reset();
}

void suit_data(Case& test) {
  soften(test);
  if (!has_16_bits(test)) return;
  const bool few = keys_of_a_query(test) < 8;
  if (test.data == "peaked" && few) test.data = "normal";
  const bool flat = test.data == "flat" || test.data == "uniform";
  const bool sharp = has_wide_scores(test) && sharpness(test) > 1;
  if (flat || (sharp && few)) test.scale.reset();
  if (flat || (sharp && !few)) test.data = "normal";
}

bool widen(Case& test) {
  constexpr int64_t kChannels = 8;
  if (!has_16_bits(test) || std::min(test.dim, test.dim_v) >= kChannels) return false;
  test.dim = std::max(test.dim, kChannels);
  test.dim_v = std::max(test.dim_v, kChannels);
  return true;
}

}  // namespace ringcheck::parity
