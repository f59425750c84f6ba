// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "parity/judge/conservation/shares.h"

namespace ringcheck::parity {

// "dv is 4 times as large as the laws ask": all laws hold that failed once it is divided by that.
struct Factor {
  const char* tensor;  // dv, dk (of which dq is as good as 1/value), dq of one part, o
  double value = 1, sigma = 0;
  int part = -1;  // of this part alone; -1: of all
};

// The factors that explain every broken law; those of a single part where no common one does. Each
// is one unknown, so it must follow from four sums or more.
std::vector<Factor> fitting_factors(const Parts& parts, const Arithmetic& how);

}  // namespace ringcheck::parity
