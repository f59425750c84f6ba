// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/conditions/coverage.h"

#include <algorithm>

namespace ringcheck::parity {
namespace {

struct Counts {
  std::vector<int64_t> each, pairs;
};

Counts counts_of(const std::vector<Case>& cases, const Combinations& combinations) {
  Counts counts{std::vector<int64_t>(combinations.conditions().size()),
                std::vector<int64_t>(combinations.pairs())};
  for (const Case& test : cases) {
    const Combinations::Met met = combinations.met_by(test);
    for (const uint16_t condition : met.all)
      ++counts.each[condition];
    combinations.each_pair(met, [&](size_t pair) { ++counts.pairs[pair]; });
  }
  return counts;
}

}  // namespace

bool Coverage::is_met() const {
  return missed_pairs.empty() && std::ranges::all_of(rows, &Row::is_met);
}

Coverage coverage_of(const std::vector<Case>& cases, const std::vector<Case>& pool,
                     const Combinations& combinations, Minima minima) {
  const Counts found = counts_of(cases, combinations), possible = counts_of(pool, combinations);
  Coverage coverage;
  for (size_t i = 0; i < found.each.size(); ++i) {
    const Condition& row = combinations.conditions()[i];
    coverage.rows.push_back({row.name, found.each[i], minima.of(row)});
  }
  for (size_t pair = 0; pair < possible.pairs.size(); ++pair) {
    if (possible.pairs[pair] == 0)
      continue;
    ++coverage.pairs;
    if (found.pairs[pair] < std::min<int64_t>(minima.pair, possible.pairs[pair]))
      coverage.missed_pairs.push_back(combinations.pair_text(pair));
  }
  return coverage;
}

}  // namespace ringcheck::parity
