// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parity/case/conditions/cover.h"

namespace ringcheck::parity {

// How often a list of cases meets each condition, and each pair of them that there can be.
struct Coverage {
  struct Row {
    std::string condition;
    int64_t cases = 0, minimum = 0;
    bool is_met() const { return cases >= minimum; }
  };
  std::vector<Row> rows;
  int64_t pairs = 0;                      // wanted together and met by a case of the pool
  std::vector<std::string> missed_pairs;  // those that too few cases of the list meet
  bool is_met() const;
};

// `pool`: the drawn cases, which say what pairs there can be; as many cases of a pair are wanted as
// the minima say, or as there are.
Coverage coverage_of(const std::vector<Case>& cases, const std::vector<Case>& pool,
                     const Combinations& combinations, Minima minima);

}  // namespace ringcheck::parity
