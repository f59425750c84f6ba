// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "parity/case/conditions/combinations.h"

namespace ringcheck::parity {

// How many cases are wanted to meet each condition, and each pair of them (combinations.h).
struct Minima {
  int each = 3, pair = 1;
  int of(const Condition& row) const {
    if (row.rank == Condition::Rank::kCostliest) return each / 10;
    return row.rank == Condition::Rank::kCostly ? each / 3 : each;
  }
};

// A list of cases in which rare conditions are not left to chance: chosen from many drawn cases,
// one by one, each time the case that brings most of what is missing for the time that it takes.
class Cover {
 public:
  Cover(const Combinations& combinations, Minima minima);

  void add(const Case& test);
  const std::vector<Case>& cases() const { return cases_; }

  // Adds at most `count` cases of the pool, none twice, until none brings anything.
  void choose(const std::vector<Case>& pool, size_t count);

 private:
  void add(const Case& test, const Combinations::Met& met);
  int64_t gain(const Combinations::Met& met) const;

  const Combinations& combinations_;
  Minima minima_;
  std::vector<Case> cases_;
  std::vector<int> each_;       // missing, by condition
  std::vector<uint8_t> pairs_;  // missing, by pair
  std::vector<bool> triples_;   // met, by triple
};

// What a case costs, in thousandths of the least: pairs of positions times channels, and a share
// that every case has.
int64_t cost_of(const Case& test);

}  // namespace ringcheck::parity
