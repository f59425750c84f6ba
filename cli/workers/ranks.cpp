// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/ranks.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>

#include "cli/subcommand.h"
#include "cli/workers/supervisor.h"
#include "cli/to_result.h"
#include "cp/error.h"
#include "cp/worlds/mpi_world.h"
#include "cp/worlds/store_world.h"
#include "parity/judge/runner.h"
#include "parity/judge/device_test.h"

namespace ringcheck::cli {
namespace {

std::chrono::milliseconds deadline(std::optional<double> seconds, const parity::Case& test) {
  const double chosen = seconds.value_or(deadline_of(test));
  return std::chrono::milliseconds(static_cast<int64_t>(chosen * 1000));
}

std::unique_ptr<Session> meet_at_store() {
  try {
    return std::make_unique<StoreSession>();
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

// The processes of this job, as the launcher connects them.
std::unique_ptr<Session> connect(const Launcher& launcher) {
  if (launcher.name == "torchrun") return meet_at_store();
  int argc = 0;
  char** argv = nullptr;
  return std::make_unique<MpiSession>(argc, argv);
}

int run_all(Session& host, const Launcher& launcher, const std::vector<parity::Case>& cases,
            const SupervisorOptions& options, const RanksReport& report) {
  const auto gpus = parity::any_on_cuda(cases) ? on_gpus(host, std::max(0, launcher.local_rank))
                                               : nullptr;
  // Rank 0 judges while the others wait for the next case, longer than a deadline of theirs.
  const auto together = host.world(std::chrono::hours(12));
  std::vector<reports::CaseResult> results;
  for (const parity::Case& test : cases) {
    parity::RunOptions run;
    run.deadline = deadline(options.deadline_seconds, test);
    run.judging = options.judging;
    const auto world = (test.device == "cuda" ? *gpus : host).world(run.deadline);
    const auto verdict = parity::verify(test, *world, run);
    if (host.rank() == 0)
      results.push_back(to_result(verdict.value()));
    together->agree_max(int64_t{0});
  }
  const int64_t code = host.rank() == 0 ? report(std::move(results)) : 0;
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
  const std::unique_ptr<Session> host = connect(launcher);
  if (const auto wrong = mismatch(launcher, host->rank(), host->size())) {
    if (launcher.rank <= 0)
      std::cerr << "ringcheck: " << *wrong << "\n";
    return exit_codes::kUsage;
  }
  at::set_num_threads(1);
  try {
    if (host->rank() == 0) parity::test_devices_of(cases);  // the rank that judges
    return run_all(*host, launcher, cases, options, report);
  } catch (const std::exception& error) {
    const bool ours = dynamic_cast<const parity::SelfTestFailed*>(&error) != nullptr;
    std::cerr << "ringcheck: rank " << host->rank() << ": " << error.what() << std::endl;
    const int code = ours ? exit_codes::kSelfTest : exit_codes::kDead;
    host->abort(code);
    return code;
  }
}

}  // namespace ringcheck::cli
