// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/further_runs.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>

#include "cli/progress.h"
#include "cli/screen.h"
#include "cli/workers/sharing/dealing.h"
#include "cp/clock.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

constexpr int kRuns = 5;
constexpr int kCases = 3;
constexpr double kLongest = 10;  // seconds, of a run, and after which no more are begun

using reports::Status;

bool worth_repeating(const reports::CaseResult& test) {
  return test.verdict == Status::kFail && test.seconds <= kLongest;
}

// As many at a time as there are workers, each of which has one. Until a run does not end by itself, as others would cost
// another deadline, or they have taken long, as where each loads Python.
std::string further_runs_of(const parity::Case& test, const SupervisorOptions& options) {
  const int at_a_time = is_small(test) ? std::clamp(options.jobs, 1, kRuns) : 1;
  const auto begin = Clock::now();
  int runs = 0, failed = 0;
  for (bool ended = true; ended && runs < kRuns && seconds_since(begin) < kLongest;) {
    const std::vector<parity::Case> some(static_cast<size_t>(std::min(at_a_time, kRuns - runs)), test);
    for (const reports::CaseResult& run : supervise(some, options)) {
      if (run.verdict == Status::kSkipped) return "";
      ++runs;
      const bool cut = run.verdict == Status::kHang || run.verdict == Status::kCrash;
      failed += cut || run.verdict == Status::kFail ? 1 : 0;
      ended = ended && !cut;
    }
  }
  return reports::failed_again(failed, runs);
}

}  // namespace

void run_failures_again(const std::vector<parity::Case>& cases, SupervisorOptions options,
                        std::vector<reports::CaseResult>& results) {
  options.finished = {};
  options.explained = false;  // what would explain it is known
  const auto worthy = std::ranges::count_if(results, worth_repeating);
  Progress progress(std::min<size_t>(kCases, worthy), "failed cases run again");
  int repeated = 0;
  for (size_t i = 0; i < cases.size() && repeated < kCases; ++i) {
    if (!worth_repeating(results[i])) continue;
    ++repeated;
    try {
      const std::string finding = further_runs_of(cases[i], options);
      if (!finding.empty()) results[i].findings.push_back(finding);
      progress.advance(true);
    } catch (const std::exception& error) {  // what is known already is not lost
      std::cerr << complaint(std::string("a failed case was not run again: ") + error.what());
      return;
    }
  }
}

}  // namespace ringcheck::cli
