// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "parity/case/case_space.h"
#include "parity/judge/verdict.h"

namespace ringcheck::search {

// How near to its limits a case came.
struct Hardness {
  double max_z = 0;       // largest |error| / sigma of all tensors; the limit is 8
  double hard_ratio = 0;  // largest |error| / bound; the limit is 1
  std::string tensor;     // of the largest z
};
Hardness hardness_of(const parity::Verdict& verdict);

struct Climbed {
  parity::Verdict worst;  // the case with the largest z, or the first one that fails
  Hardness hardness;
  int run = 0;
  bool failed = false;
};

using Verify = std::function<parity::Verdict(const parity::Case&)>;

// A targeted search: of `steps` cases the first third is drawn; from the worst of these on, one
// part of the worst case so far (a choice, or a number behind length, mask and seed) is changed,
// and the change is kept unless its largest z is smaller. Ends with the first case that fails.
Climbed climb(const parity::CaseSpace& space, uint64_t seed, int steps, const Verify& verify);

}  // namespace ringcheck::search
