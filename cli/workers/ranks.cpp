// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/ranks.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>

#include "cli/bundle/bundle.h"
#include "cli/subcommand.h"
#include "cli/transport.h"
#include "cli/workers/sharing/dealing.h"
#include "cli/workers/own_status.h"
#include "cli/workers/self_test.h"
#include "cli/workers/supervisor.h"
#include "cli/workers/watchdog.h"
#include "cli/to_result.h"
#include "cp/error.h"
#include "cp/worlds/job.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/device_test.h"
#include "parity/judge/runner.h"
#include "parity/subject/python/lent.h"
#include "reports/file.h"

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

// Longer than any case of these.
std::chrono::milliseconds longest(const std::vector<parity::Case>& cases,
                                  const SupervisorOptions& options) {
  std::chrono::milliseconds longest{};
  for (const parity::Case& test : cases)
    longest = std::max(longest, deadline(options.deadline_seconds, test));
  return longest;
}

// One of the ranks, from its beginning to its end.
class Rank {
 public:
  Rank(const Launcher& launcher, const std::vector<parity::Case>& cases,
       const SupervisorOptions& options, const RanksReport* report)
      : launcher_(launcher),
        cases_(cases),
        options_(options),
        report_(report),
        own_(std::max(0, launcher.rank), report ? report->record.status_path() : ""),
        watchdog_(std::max(0, launcher.rank), exit_codes::kDead, [this](const std::string& why) {
          own_.failed(RankState::kTimedOut, "hang: " + why);
          parity::show_lent_stack();  // by a signal, of which a call in Python may fail
          if (report_ != nullptr) report_->record.make_files();
        }) {}

  int operator()() {
    if (report_ != nullptr) report_->record.note_end();
    try {
      join();
    } catch (const Timeout& error) {
      return fail(RankState::kTimedOut, error.what());
    } catch (const std::exception& error) {
      if (launcher_.rank <= 0) throw UsageError(error.what());
      return exit_codes::kUsage;  // said once
    }
    at::set_num_threads(1);
    try {
      return run_all();
    } catch (const parity::SelfTestFailed& error) {
      return give_up(exit_codes::kSelfTest, error.what(), [](Record& record) { record.remove(); });
    } catch (const reports::Unwritable& error) {
      return give_up(exit_codes::kUsage,
                     std::string(error.what()) + "; the journal keeps what is known, for ringcheck "
                                                 "result recover",
                     [](Record& record) { record.keep(); });
    } catch (const Timeout& error) {
      return fail(RankState::kTimedOut, error.what());
    } catch (const std::exception& error) {
      return fail(RankState::kThrew, error.what());
    }
  }

 private:
  void join() {
    JobOptions how;
    if (options_.deadline_seconds) how.time_to_meet = milliseconds(*options_.deadline_seconds);
    if (!launcher_.place.empty())
      watchdog_.watch("the meeting at " + launcher_.place, how.time_to_meet + kMargin);
    enter({"meet"});
    job_ = Job::join(launcher_, how);
    watchdog_.rest();
    if (passes_between_gpus(cases_, options_.transport)) job_->join_gpus(options_.transport);
    if (report_ != nullptr) report_->record.note_end();  // MPI has signal handlers of its own
  }

  int run_all() {
    parity::RunOptions run;
    run.judging = options_.judging;
    if (!options_.bundles.empty()) run.failed = keep_in(options_.bundles);
    run.timelines = options_.timelines;
    run.explained = true;
    run.observer = [&](int, const Operation& operation) { enter(operation); };
    parity::ProcessRanks world(
        job_->rank(),
        [&](const parity::Case& test) {
          return job_->world(parity::device_type_of(test),
                             deadline(options_.deadline_seconds, test), options_.transport);
        },
        run.observer, [&](const parity::Case& test) { return lacks_gpus(test, options_.transport); });
    // Rank 0 judges while the others wait for the next case, longer than a deadline of theirs.
    const auto together =
        job_->world(at::kCPU, report_ != nullptr ? longest(cases_, options_)
                                                 : std::chrono::milliseconds(std::chrono::hours(12)));
    own_.share(*together);
    enter({"self-test"});
    if (job_->rank() == 0) {  // the rank that judges
      parity::test_before(cases_, options_.judging, judging_with(options_.planted));
      parity::test_devices_of(cases_);
    }
    together->agree_max(int64_t{0});
    std::vector<reports::CaseResult> results;
    for (size_t i = 0; i < cases_.size(); ++i) {
      begin(i);
      const auto verdict = parity::verify(cases_[i], world, run);
      watchdog_.rest();
      if (verdict && report_ != nullptr) end(i, to_result(*verdict), results);
      together->agree_max(int64_t{0});
    }
    const int64_t code = report_ != nullptr ? finish(std::move(results)) : 0;
    own_.done();
    return static_cast<int>(together->agree_max(code));
  }

  void enter(const Operation& operation) {
    last_ = operation;
    own_.enter(operation);
    watchdog_.sign(operation);
  }

  void begin(size_t test) {
    if (report_ != nullptr) report_->record.journal().began(test);
    own_.begin(test);
    watchdog_.watch(parity::to_text(cases_[test]),
                    deadline(options_.deadline_seconds, cases_[test]) + kMargin);
  }

  void end(size_t test, reports::CaseResult result, std::vector<reports::CaseResult>& results) const {
    report_->record.journal().ended(test, report_->ended(result));
    results.push_back(std::move(result));
  }

  int finish(std::vector<reports::CaseResult> results) const {
    const int code = report_->end(std::move(results));
    report_->record.remove();
    return code;
  }

  int fail(RankState state, const std::string& why) {
    own_.failed(state, why);
    return give_up(exit_codes::kDead, describe(last_) + ": " + why,
                   [](Record& record) { record.make_files(); });
  }

  // On rank 0 the record is left as `settle` leaves it.
  int give_up(int code, const std::string& why, const std::function<void(Record&)>& settle) {
    std::cerr << "ringcheck: rank " << std::max(0, launcher_.rank) << ": " << why << std::endl;
    if (report_ != nullptr) settle(report_->record);
    if (job_) job_->abort(code);
    return code;
  }

  const Launcher& launcher_;
  const std::vector<parity::Case>& cases_;
  const SupervisorOptions& options_;
  const RanksReport* report_;
  OwnStatus own_;
  Operation last_;
  Watchdog watchdog_;
  std::unique_ptr<Job> job_;
};

}  // namespace

int ranks_of(const Launcher& launcher) { return std::max(1, launcher.size); }

void adopt(const Launcher& launcher, bool world_said, std::vector<parity::Case>& cases) {
  const int size = ranks_of(launcher);
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
              const SupervisorOptions& options, const RanksReport* report) {
  return Rank(launcher, cases, options, report)();
}

}  // namespace ringcheck::cli
