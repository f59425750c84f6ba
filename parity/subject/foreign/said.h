// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parity/case/case.h"
#include "parity/subject/promise.h"

namespace ringcheck::parity {

// What a subject from outside says of itself; what it leaves open is the loosest that is promised.
struct Said {
  std::optional<std::string> contract = {};  // of which kernel: plain, flash, ...
  int partials = 0;                          // 0: the ranks
  double u_angle = 0;                        // 0: 2^-53
  bool deterministic = false;
  bool lengths = false;
  std::optional<std::set<std::string>> shows = {};
  std::vector<std::vector<int64_t>> sends = {};  // of Promise
};

// Throws BadCase where it cannot be kept.
Promise promise_of(const Case& test, const Said& said);

}  // namespace ringcheck::parity
