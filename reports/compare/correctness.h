// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/compare/change.h"
#include "reports/compare/side.h"

namespace ringcheck::reports {

struct Correctness {
  // Of the second result, those of them that the first has not, and those that are judged.
  int64_t cases = 0, added = 0, judged = 0;
  std::vector<Change> changes;   // what is worse first
};

// What the oracles and counters say of the second that they did not of the first.
Correctness compare_correctness(const Side& base, const Side& new_, const Ignored& ignored);

}  // namespace ringcheck::reports
