// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ringcheck::parity {

// Where a factor was seen: it may stand for the softmax scale, the number of ranks, query heads of a group, a
// base of logarithms.
struct Scene {
  double scale = 1;   // of the scores
  int64_t world = 1;  // ranks
  int64_t group = 1;  // query heads of a key-value head
  bool training = false;  // in a step of training: for microbatches or a loss scale, too
};

// All of these within `width` of the value, in words: "; it may be the number of ranks, or ...". Empty:
// none, or so wide that it is no number in particular.
std::string meaning_of(double value, double width, const Scene& scene);

}  // namespace ringcheck::parity
