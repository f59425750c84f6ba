// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/ranks.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <iostream>
#include <set>

#include "cli/subcommand.h"
#include "cli/supervisor.h"
#include "cli/to_result.h"
#include "cp/error.h"
#include "cp/mpi_world.h"
#include "parity/runner.h"

namespace ringcheck::cli {
namespace {

std::chrono::milliseconds deadline(std::optional<double> seconds, const parity::Case& test) {
  const double chosen = seconds.value_or(deadline_of(test));
  return std::chrono::milliseconds(static_cast<int64_t>(chosen * 1000));
}

int run_all(MpiSession& mpi, const std::vector<parity::Case>& cases, std::optional<double> seconds,
            const std::function<int(std::vector<reports::CaseResult>)>& report) {
  std::vector<reports::CaseResult> results;
  // Rank 0 judges while the others wait for the next case, longer than a deadline of theirs.
  const auto together = mpi.world(std::chrono::hours(12));
  for (const parity::Case& test : cases) {
    parity::RunOptions run;
    run.deadline = deadline(seconds, test);
    const auto world = mpi.world(run.deadline);
    const auto verdict = parity::verify(test, *world, run);
    if (mpi.rank() == 0)
      results.push_back(to_result(verdict.value()));
  }
  const auto world = mpi.world(std::chrono::hours(1));
  const int64_t code = mpi.rank() == 0 ? report(std::move(results)) : 0;
  return static_cast<int>(world->agree_max(code));
}

}  // namespace

void adopt(const Launcher& launcher, bool world_said, std::vector<parity::Case>& cases) {
  const int size = launcher.size < 0 ? 1 : launcher.size;
  for (parity::Case& test : cases) {
    if (world_said && test.world != size)
      throw UsageError("a world of " + std::to_string(test.world) + " was asked for, but " +
                       describe(launcher) +
                       "; start as many ranks, or start ringcheck alone: it "
                       "makes its worlds itself");
    test.world = size;
    test.world_kind = "mpi";
    parity::validate(test);
  }
  std::set<std::string> seen;  // a profile has some cases both as threads and as processes
  std::erase_if(
      cases, [&](const parity::Case& test) { return !seen.insert(parity::to_text(test)).second; });
}

int run_ranks(const Launcher& launcher, const std::vector<parity::Case>& cases,
              std::optional<double> deadline_seconds,
              const std::function<int(std::vector<reports::CaseResult>)>& report) {
  int argc = 0;
  char** argv = nullptr;
  MpiSession mpi(argc, argv);
  if (const auto wrong = mismatch(launcher, mpi.rank(), mpi.size())) {
    if (launcher.rank <= 0)
      std::cerr << "ringcheck: " << *wrong << "\n";
    return exit_codes::kUsage;
  }
  at::set_num_threads(1);
  try {
    return run_all(mpi, cases, deadline_seconds, report);
  } catch (const std::exception& error) {
    std::cerr << "ringcheck: rank " << mpi.rank() << ": " << error.what() << std::endl;
    MpiSession::abort(exit_codes::kDead);
  }
}

}  // namespace ringcheck::cli
