// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringcheck::parity {

// What the judging let through, or refused, where the answer is known.
struct SelfTest {
  int64_t demands = 0;
  std::vector<std::string> failures;  // demands that were not met, in words

  void demand(bool met, const std::string& otherwise) {
    ++demands;
    if (!met)
      failures.push_back(otherwise);
  }
};

}  // namespace ringcheck::parity
