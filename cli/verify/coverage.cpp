// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/coverage.h"

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "cli/subcommand.h"
#include "cli/verify/profiles.h"
#include "parity/case/conditions/coverage.h"

namespace ringcheck::cli {
namespace {

using parity::Coverage;

constexpr size_t kMissedShown = 20;

// The whole profile that these are the cases of; null where they are of none.
const Profile* profile_of(const Asked& asked) {
  const auto selects =
      std::ranges::find_if(asked.parts, [](const auto& part) { return part.first != "device"; });
  if (!asked.profile.empty() && selects != asked.parts.end())
    throw UsageError("--coverage and --" + selects->first +
                     " contradict each other: it is a whole profile that covers the conditions; "
                     "leave one of them out");
  const bool others = !asked.models.empty() || !asked.cases.empty() || !asked.tensors.empty() ||
                      !asked.clean.empty() || selects != asked.parts.end();
  if (others)
    return nullptr;
  return &profile(asked.profile.empty() ? "smoke" : asked.profile);
}

void print(const Coverage& coverage, parity::Minima minima, size_t drawn) {
  constexpr int kName = 56, kNumber = 9;
  std::cout << std::left << std::setw(kName) << "condition" << std::right << std::setw(kNumber)
            << "cases" << std::setw(kNumber) << "at least"
            << "\n";
  for (const Coverage::Row& row : coverage.rows)
    std::cout << std::left << std::setw(kName) << row.condition << std::right << std::setw(kNumber)
              << row.cases << std::setw(kNumber) << row.minimum
              << (row.is_met() ? "\n" : "  TOO FEW\n");
  if (drawn == 0)
    return;
  std::cout << "pairs: " << coverage.pairs << " wanted, of those that " << drawn
            << " drawn cases have, each in " << minima.pair << " or more; "
            << coverage.missed_pairs.size() << " in too few\n";
  for (size_t i = 0; i < std::min(kMissedShown, coverage.missed_pairs.size()); ++i)
    std::cout << "TOO FEW  " << coverage.missed_pairs[i] << "\n";
}

}  // namespace

int report_coverage(const Asked& asked, const Selection& selection) {
  const Profile* of = profile_of(asked);
  const auto device = asked.parts.find("device");
  const std::string on = device == asked.parts.end() ? "cpu" : device->second.front();
  const bool has_minima = of != nullptr && of->minima;
  const parity::Minima minima = has_minima ? *of->minima : parity::Minima{.each = 0, .pair = 0};
  const std::vector<parity::Case> pool = has_minima ? of->pool(on) : std::vector<parity::Case>{};
  const Coverage coverage = parity::coverage_of(
      selection.cases, pool, parity::Combinations(parity::conditions_of(on)), minima);
  std::cout << "coverage: " << selection.what << "\n";
  print(coverage, minima, pool.size());
  return coverage.is_met() ? 0 : 1;
}

}  // namespace ringcheck::cli
