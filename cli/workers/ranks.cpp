// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/ranks.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>

#include "cli/subcommand.h"
#include "cli/workers/self_test.h"
#include "cli/workers/supervisor.h"
#include "cli/workers/watchdog.h"
#include "cli/to_result.h"
#include "cp/error.h"
#include "cp/worlds/job.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/device_test.h"
#include "parity/judge/runner.h"

namespace ringcheck::cli {
namespace {

// A wait that ends at the deadline says whom it waited for: it speaks first.
constexpr std::chrono::seconds kMargin{5};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

std::chrono::milliseconds deadline(std::optional<double> seconds, const parity::Case& test) {
  return milliseconds(seconds.value_or(deadline_of(test)));
}

std::unique_ptr<Job> join(const Launcher& launcher, const SupervisorOptions& options) {
  JobOptions how;
  if (options.deadline_seconds)
    how.time_to_meet = milliseconds(*options.deadline_seconds);
  try {
    return Job::join(launcher, how);
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

int run_all(Job& job, const std::vector<parity::Case>& cases, const SupervisorOptions& options,
            const RanksReport& report) {
  Watchdog watchdog(job.rank(), exit_codes::kDead);
  parity::RunOptions run;
  run.judging = options.judging;
  run.observer = [&](int, const Operation& operation) { watchdog.sign(operation); };
  parity::ProcessRanks world(
      job.rank(),
      [&](const parity::Case& test) {
        return job.world(parity::device_type_of(test), deadline(options.deadline_seconds, test));
      },
      run.observer);
  // Rank 0 judges while the others wait for the next case, longer than a deadline of theirs.
  const auto together = job.world(at::kCPU, std::chrono::hours(12));
  if (job.rank() == 0)  // the rank that judges
    parity::test_before(cases, options.judging, judging_with(options.planted));
  together->agree_max(int64_t{0});
  std::vector<reports::CaseResult> results;
  for (const parity::Case& test : cases) {
    watchdog.watch(parity::to_text(test), deadline(options.deadline_seconds, test) + kMargin);
    const auto verdict = parity::verify(test, world, run);
    watchdog.rest();
    if (verdict)
      results.push_back(to_result(*verdict));
    together->agree_max(int64_t{0});
  }
  const int64_t code = job.rank() == 0 ? report(std::move(results)) : 0;
  return static_cast<int>(together->agree_max(code));
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

std::string transport_of(const Launcher& launcher, const std::vector<parity::Case>& cases) {
  const std::string boot = launcher.name == "torchrun" ? "TCP store" : "MPI";
  return parity::any_on_cuda(cases) ? "NCCL over " + boot + ", a process and a GPU a rank"
                        : boot + ", a process a rank";
}

int run_ranks(const Launcher& launcher, const std::vector<parity::Case>& cases,
              const SupervisorOptions& options, const RanksReport& report) {
  std::unique_ptr<Job> job;
  try {
    job = join(launcher, options);
  } catch (const UsageError&) {
    if (launcher.rank <= 0) throw;
    return exit_codes::kUsage;  // said once
  }
  at::set_num_threads(1);
  try {
    return run_all(*job, cases, options, report);
  } catch (const std::exception& error) {
    const bool ours = dynamic_cast<const parity::SelfTestFailed*>(&error) != nullptr;
    std::cerr << "ringcheck: rank " << job->rank() << ": " << error.what() << std::endl;
    const int code = ours ? exit_codes::kSelfTest : exit_codes::kDead;
    job->abort(code);
    return code;
  }
}

}  // namespace ringcheck::cli
