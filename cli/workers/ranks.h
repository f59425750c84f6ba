// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/workers/record.h"
#include "cli/workers/supervisor.h"
#include "cp/worlds/launcher.h"
#include "parity/case/case.h"
#include "reports/result.h"

namespace ringcheck::cli {

int ranks_of(const Launcher& launcher);  // 1 where it does not say

// The cases as the ranks of a launcher run them: MPI worlds of its size. Throws UsageError where a
// case was asked for that this world is not.
void adopt(const Launcher& launcher, bool world_said, std::vector<parity::Case>& cases);

// What rank 0 does with the results.
struct RanksReport {
  Record& record;
  std::function<reports::CaseResult(reports::CaseResult)> ended;  // gives it as it is recorded
  std::function<int(std::vector<reports::CaseResult>)> end;       // gives the exit code
};

// Runs the cases as one of the ranks that a launcher started, without a supervisor. Rank 0 has a
// `report` and gives the exit code, which every rank returns. A rank that fails or waits for too
// long, also for another one to come, ends all of them with exit code 5, a failed self-test with 70.
int run_ranks(const Launcher& launcher, const std::vector<parity::Case>& cases,
              const SupervisorOptions& options, const RanksReport* report);

}  // namespace ringcheck::cli
