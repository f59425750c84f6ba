// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/coverage.h"

#include <algorithm>
#include <iostream>

#include "cli/arguments.h"
#include "cli/screen.h"
#include "cli/subcommand.h"
#include "cli/verify/profiles.h"
#include "parity/case/conditions/coverage.h"
#include "reports/screen/table.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Coverage;
using reports::Tone;

constexpr size_t kMissedShown = 20;

// The whole profile that these are the cases of; null where they are of none.
const Profile* profile_of(const Asked& asked) {
  const auto selects =
      std::ranges::find_if(asked.parts, [](const auto& part) { return part.first != "device"; });
  if (!asked.profile.empty() && selects != asked.parts.end())
    contradict("--coverage", "--" + selects->first, "it is a whole profile that covers the conditions");
  const bool others = !asked.models.empty() || !asked.cases.empty() || !asked.tensors.empty() ||
                      !asked.clean.empty() || selects != asked.parts.end();
  if (others)
    return nullptr;
  return &profile(asked.profile.empty() ? "smoke" : asked.profile);
}

void print(const Coverage& coverage, parity::Minima minima, size_t drawn) {
  const reports::Paint paint = paint_on(std::cout);
  reports::Table table({"condition", "cases", "wanted"}, 1);
  for (const Coverage::Row& row : coverage.rows)
    table.add({row.condition,
               {std::to_string(row.cases), row.is_met() ? Tone::kPlain : Tone::kBad},
               std::to_string(row.minimum)},
              row.is_met() ? "" : "TOO FEW");
  std::cout << table.text(paint);
  if (drawn == 0)
    return;
  std::cout << reports::wrapped("pairs of conditions: " + std::to_string(coverage.pairs) +
                                    " wanted, of those that " + std::to_string(drawn) +
                                    " drawn cases have, each in " + std::to_string(minima.pair) +
                                    " or more; " + std::to_string(coverage.missed_pairs.size()) +
                                    " in too few", 2)
            << "\n";
  for (size_t i = 0; i < std::min(kMissedShown, coverage.missed_pairs.size()); ++i)
    std::cout << paint(Tone::kBad, "TOO FEW") << "  "
              << reports::wrapped(coverage.missed_pairs[i], 9, 9) << "\n";
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
  const reports::Paint paint = paint_on(std::cout);
  std::cout << (coverage.is_met() ? paint(Tone::kGood, "PASS") : paint(Tone::kBad, "FAIL")) << "  "
            << reports::wrapped("coverage of " + selection.what, 6, 6) << "\n\n";
  print(coverage, minima, pool.size());
  return coverage.is_met() ? 0 : exit_codes::kWrong;
}

}  // namespace ringcheck::cli
