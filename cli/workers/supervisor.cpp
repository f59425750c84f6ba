// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/supervisor.h"

#include <c10/util/StringUtil.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "cli/doctor/doctor_smi.h"
#include "cli/process/programs.h"
#include "cli/workers/dealing.h"
#include "cli/workers/death.h"
#include "cli/workers/interrupts.h"
#include "cli/subcommand.h"
#include "cli/to_result.h"
#include "cli/workers/worker_group.h"
#include "cp/clock.h"
#include "parity/judge/device_test.h"

namespace ringcheck::cli {
namespace {

using reports::CaseResult;
using reports::Status;

constexpr double kShortestDeadline = 30, kTimesPredicted = 20;
constexpr double kShortestOfOthers = 120;  // whose first call may compile
constexpr double kTimeToStart = 60, kTimeToEnd = 30;
constexpr size_t kLineShown = 240;
constexpr double kFlopsPerSecond = 3e8;  // of reference and bounds, on a slow core

std::string tail(const std::string& text, size_t size) {
  return text.size() <= size ? text : text.substr(text.size() - size);
}

// The beginning of what a worker said, in one line; launchers frame it with dashes.
std::string in_a_line(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (line.find_first_not_of("- ") != std::string::npos)
      lines.push_back(line);
  std::string all = c10::Join(" ", lines);
  if (all.size() > kLineShown) {
    all.resize(kLineShown);
    all.append(" ...");
  }
  return all.empty() ? "it said nothing" : all;
}

class Supervision {
 public:
  Supervision(const std::vector<parity::Case>& cases, const SupervisorOptions& options)
      : cases_(cases), options_(options), results_(cases.size()) {}

  std::vector<CaseResult> operator()() {
    std::map<int, Indexes> groups = by_transport();
    const Dealt dealt = deal(cases_, groups[0], static_cast<size_t>(options_.jobs));
    groups.erase(0);
    run_all({}, dealt.large);
    std::vector<std::function<void()>> players;
    const int threads = threads_of_worker(dealt.hands.size());
    for (const Indexes& hand : dealt.hands)
      players.push_back([this, hand, threads] { run_all({"", 0, threads}, hand); });
    const bool beside = overlap(groups);
    if (beside)
      players.push_back([this, &groups] { run_processes(groups); });
    play(players);
    if (!beside)
      run_processes(groups);
    std::vector<CaseResult> results;
    for (auto& result : results_)
      results.push_back(std::move(*result));
    return results;
  }

 private:
  using Indexes = std::vector<size_t>;

  // Processes spend most of their time on meeting each other. What is large has the machine to
  // itself, and a GPU may take one process only.
  bool overlap(const std::map<int, Indexes>& by_ranks) const {
    const auto small = [&](const auto& group) {
      return std::ranges::all_of(group.second, [&](size_t i) { return is_small(cases_[i]); });
    };
    return options_.jobs > 1 && !parity::any_on_cuda(cases_) && std::ranges::all_of(by_ranks, small);
  }

  static std::optional<std::string> find_mpirun() {
    const auto mpirun = find_program("mpirun");
    return mpirun ? mpirun : find_program("mpiexec");
  }

  // Thread worlds, as of no ranks, and MPI worlds by size.
  std::map<int, Indexes> by_transport() const {
    std::map<int, Indexes> groups;
    for (size_t i = 0; i < cases_.size(); ++i)
      groups[cases_[i].world_kind == "mpi" ? cases_[i].world : 0].push_back(i);
    return groups;
  }

  // One mpirun a size, one after the other.
  void run_processes(const std::map<int, Indexes>& by_ranks) {
    const std::optional<std::string> mpirun = find_mpirun();
    for (const auto& [ranks, indexes] : by_ranks)
      if (mpirun)
        run_all({*mpirun, ranks}, indexes);
      else
        skip(indexes, "mpirun was not found; install Open MPI or put its folder into PATH");
  }

  // All at a time. The first exception is thrown here, when the workers of the others have ended.
  void play(const std::vector<std::function<void()>>& players) {
    std::exception_ptr failure;
    {
      std::vector<std::jthread> threads;
      for (const auto& player : players)
        threads.emplace_back([&] {
          try {
            player();
          } catch (...) {
            const std::lock_guard lock(finishing_);
            if (!failure)
              failure = std::current_exception();
            stopping_ = true;
          }
        });
    }
    if (failure)
      std::rethrow_exception(failure);
  }

  // Of `workers` that share the cores; 0, as many as there are, for one that has them alone.
  static int threads_of_worker(size_t workers) {
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    return workers <= 1 ? 0 : std::max(1, static_cast<int>(cores / workers));
  }

  void finish(size_t index, CaseResult result) {
    const std::lock_guard lock(finishing_);
    if (options_.finished)
      options_.finished(result);
    results_[index] = std::move(result);
  }

  void skip(const Indexes& indexes, const std::string& reason) {
    for (const size_t index : indexes)
      finish(index, to_result(cases_[index], Status::kSkipped, reason));
  }

  // A new worker for what the last one left, until nothing is left.
  void run_all(const Transport& transport, Indexes pending) {
    while (!pending.empty() && !stopping_) {
      if (Interrupts::noted() != 0)
        return skip(pending, "interrupted by " + Interrupts::text(Interrupts::noted()));
      run_some(transport, pending);
    }
  }

  // Returns when the worker is done, dead or silent. Removes what has a result from `pending`.
  void run_some(const Transport& transport, Indexes& pending) {
    std::vector<parity::Case> cases;
    for (const size_t index : pending)
      cases.push_back(cases_[index]);
    const Indexes all = pending;
    // Workers that test one GPU at once would keep each other from their cases: the first one does. What
    // it finds, or its death, ends the run or leaves cases skipped, so that no run passes without.
    const bool others_test = parity::any_on_cuda(cases) && devices_taken_.exchange(true);
    WorkerGroup workers(transport, cases, options_.judging,
                        {options_.planted, options_.bundles, options_.transport, options_.timelines, others_test});

    uint64_t progress = 0;
    auto alive = Clock::now();
    for (;;) {
      const bool ended = workers.poll().has_value();  // before the results: none is missed
      take(workers, all, pending);
      if (ended || pending.empty() || Interrupts::noted() != 0 || stopping_)
        break;
      if (const uint64_t now = workers.progress(); now != progress) {
        progress = now;
        alive = Clock::now();
      }
      if (seconds_since(alive) > allowed_silence(pending, progress > 0))
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (pending.empty())
      return check_end(workers, all.back());
    if (Interrupts::noted() == 0 && !stopping_)
      bury(workers, seconds_since(alive), all, pending);
  }

  void take(WorkerGroup& workers, const Indexes& all, Indexes& pending) {
    for (Finished& finished : workers.take_finished()) {
      const size_t index = all.at(finished.index);
      if (std::erase(pending, index) > 0)
        finish(index, std::move(finished.result));
    }
  }

  // The case that was running costs one; a worker that never began a case costs all.
  void bury(WorkerGroup& workers, double silent, const Indexes& all, Indexes& pending) {
    if (!workers.poll()) workers.show_stacks();
    const std::string output = workers.output();
    if (workers.poll() && workers.poll()->code == exit_codes::kSelfTest)
      throw parity::SelfTestFailed(in_a_line(output));
    const Death death =
        explain(collect(workers.ranks(), workers.poll(), silent, output));
    workers.end();
    if (death.test < 0) {
      devices_taken_ = false;
      skip(pending, "the worker did not start: " + in_a_line(output));
      pending.clear();
      return;
    }
    size_t index = all.at(static_cast<size_t>(death.test));
    if (std::find(pending.begin(), pending.end(), index) == pending.end())
      index = pending.front();
    CaseResult result = to_result(cases_[index], death.verdict, death.reason);
    result.seconds = silent;
    result.findings = death.findings;
    result.log = tail(output, 4000);
    std::erase(pending, index);
    finish(index, std::move(result));
  }

  // A worker has to end as well: if it cannot, its last case is no pass.
  void check_end(WorkerGroup& workers, size_t last) {
    const auto begin = Clock::now();
    while (!workers.poll() && seconds_since(begin) < kTimeToEnd)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::optional<Ended> ended = workers.poll();
    if (ended && ended->code == 0 && ended->signal == 0)
      return;
    CaseResult& result = *results_[last];
    result.verdict = ended ? Status::kCrash : Status::kHang;
    result.reason = "after its last case the worker " +
                    (ended ? "ended with " + ended->text() : std::string("did not end"));
    result.log = tail(workers.output(), 4000);
  }

  double allowed_silence(const Indexes& pending, bool started) const {
    const double allowed = options_.deadline_seconds.value_or(deadline_of(cases_[pending.front()]));
    return started ? allowed : std::max(allowed, kTimeToStart);
  }

  const std::vector<parity::Case>& cases_;
  const SupervisorOptions& options_;
  std::vector<std::optional<CaseResult>> results_;
  std::mutex finishing_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> devices_taken_ = false;  // by a worker that tests them before its first case
};

}  // namespace

// Ranks wait for each other: one worker more than cores fills what they leave idle.
int default_jobs(const std::vector<parity::Case>& cases) {
  constexpr size_t kMost = 8, kCasesToStart = 12;
  size_t jobs = std::min<size_t>(std::thread::hardware_concurrency() + 1, kMost);
  if (parity::any_on_cuda(cases)) {
    if (gpus_are_exclusive()) return 1;
    const auto foreign = std::ranges::count_if(cases, [](const parity::Case& test) { return !test.is_ours(); });
    if (static_cast<size_t>(foreign) == cases.size())
      jobs = std::min(jobs, (cases.size() + kCasesToStart - 1) / kCasesToStart);
  }
  return static_cast<int>(jobs);
}

double deadline_of(const parity::Case& test) {
  const double pairs = static_cast<double>(test.batch) * static_cast<double>(test.q_heads) *
                       static_cast<double>(test.seq) * static_cast<double>(test.seq);
  const double predicted =
      pairs * static_cast<double>(8 * test.dim + 6 * test.dim_v) / kFlopsPerSecond;
  const double shortest = test.is_ours() ? kShortestDeadline : kShortestOfOthers;
  return std::max(shortest, kTimesPredicted * predicted);
}

std::vector<CaseResult> supervise(const std::vector<parity::Case>& cases,
                                  const SupervisorOptions& options) {
  const Interrupts interrupts;
  return Supervision(cases, options)();
}

}  // namespace ringcheck::cli
