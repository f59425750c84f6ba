// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/further_runs.h"

#include <algorithm>

#include "reports/text.h"

namespace ringcheck::cli {
namespace {

constexpr int kRuns = 5;
constexpr int kCases = 3;
constexpr double kLongest = 10;  // seconds

using reports::Verdict;

bool worth_repeating(const reports::CaseResult& test) {
  return test.verdict == Verdict::kFail && test.seconds <= kLongest;
}

}  // namespace

void run_failures_again(const std::vector<parity::Case>& cases, SupervisorOptions options,
                        std::vector<reports::CaseResult>& results) {
  options.finished = {};
  int repeated = 0;
  for (size_t i = 0; i < cases.size() && repeated < kCases; ++i) {
    if (!worth_repeating(results[i])) continue;
    ++repeated;
    const auto again = supervise(std::vector<parity::Case>(kRuns, cases[i]), options);
    const auto ended = [&](Verdict verdict) {
      return static_cast<int>(std::ranges::count(again, verdict, &reports::CaseResult::verdict));
    };
    if (ended(Verdict::kSkipped) > 0) return;  // interrupted
    results[i].findings.push_back(reports::repeated(kRuns, kRuns - ended(Verdict::kPass)));
  }
}

}  // namespace ringcheck::cli
