// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/case/problem.h"
#include "parity/subject/outcome.h"

namespace ringcheck::parity {

// What is known about one case: the right outcome, and right ones of others.
struct Known {
  Case test;
  Problem problem;
  Outcome clean, before, other_seed;  // `before` is that of another mask
  Outcome bounds;  // how far each element of a tensor may be off; nothing of it for known answers

  explicit Known(const Case& test);
  bool random() const { return test.data == Case{}.data; }
};

// The tensor of this name: o, lse, dq, dk, dv, or q and k as rotated; nullptr where there is no
// such.
at::Tensor* find(Outcome& outcome, const std::string& name);

// An outcome in which one tensor is wrong, and who must see it.
struct Spoilt {
  enum class Seen {
    kAlways,  // whoever claims the tensor
    kRandom,  // with data that depends on seed and mask
    kClosely  // by a comparison element by element
  };
  std::string how;
  Outcome outcome;
  Seen seen = Seen::kAlways;
};
std::vector<Spoilt> spoilt(const Known& known, const std::string& name);

// A counter of the last outcome that is off by one, on one rank.
struct Miscounted {
  std::string how;
  int rank = 0;
  Outcome outcome;
};
std::vector<Miscounted> miscounted(const Outcome& clean);

}  // namespace ringcheck::parity
