// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ringcheck::parity {

// |error| may exceed the first-order bound by its second order, never by more.
inline constexpr double kHard = 1.001;
// Gaussian tail 1e-15 an element, sub-Gaussian 2.5e-14.
inline constexpr double kStat = 8;

// Part of a tensor beside its truth: [pairs, shared, slots, dim], or without dim. A pair is a batch
// entry and a key-value head; shared are the query heads that read it, one for dK and dV.
struct Compared {
  at::Tensor actual, value, bound, sigma;  // actual in any dtype, the others in float64
  int64_t first_pair = 0;                  // of the whole tensor
  std::vector<int64_t> positions;          // of the slots
};

// An element that is off.
struct Worst {
  double ratio = 0;  // to what is allowed; 0: none
  int64_t pair = 0, shared = 0, position = 0, channel = -1;  // -1: the tensor has no channels
  double actual = 0, value = 0, bound = 0, sigma = 0;
};

// Everything that a verdict on a tensor needs of its elements, and nothing as large as they are.
// Tallies of the parts of a tensor add up to that of the whole.
struct Tally {
  double max_abs = 0, hard_ratio = 0, max_z = 0;
  int64_t worst_position = -1;  // of max_z; -1: no error at all
  double z_squares = 0, error_squares = 0, value_squares = 0;
  // By position, summed over all else.
  std::vector<double> compared;  // elements, whether an error is allowed or not
  std::vector<double> elements;  // of the statistics: where an error is allowed
  std::vector<double> signed_z;  // z sign(value)
  std::vector<double> energy;    // value^2
  std::vector<double> vacuous;   // value^2 where a zero would pass
  Worst hard, stat;              // beyond kHard bound, and beyond kStat sigma

  void add(const Tally& other);
};

// Of a sequence of length `seq`. Equal infinities differ by nothing; a NaN differs infinitely.
Tally tally(const Compared& part, int64_t seq);

}  // namespace ringcheck::parity
