// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/supervisor.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "cli/process/programs.h"
#include "cli/workers/sharing/at_once.h"
#include "cli/workers/sharing/dealing.h"
#include "cli/workers/death.h"
#include "cli/workers/interrupts.h"
#include "cli/workers/sharing/pile.h"
#include "cli/workers/said.h"
#include "cli/subcommand.h"
#include "cli/to_result.h"
#include "cli/workers/worker_group.h"
#include "cp/clock.h"
#include "parity/judge/device_test.h"

namespace ringcheck::cli {
namespace {

using reports::CaseResult;
using reports::Status;

constexpr double kTimeToStart = 60, kTimeToEnd = 30;
constexpr int32_t kSupervisor = 1;  // as one who takes cases

using Indexes = std::vector<size_t>;

class Supervision {
 public:
  Supervision(const std::vector<parity::Case>& cases, const SupervisorOptions& options)
      : cases_(cases), options_(options), results_(cases.size()) {}

  std::vector<CaseResult> operator()() {
    std::map<int, Indexes> groups = by_transport();
    const Dealt dealt = deal(cases_, groups[0]);
    groups.erase(0);
    run_shared(dealt.large, 1);
    run_shared(dealt.medium, workers_of_medium(options_.jobs));
    const bool beside = overlap(groups);
    const auto processes = [this, &groups] { run_processes(groups); };
    run_shared(dealt.small, static_cast<size_t>(options_.jobs), beside ? processes : std::function<void()>());
    if (!beside) processes();
    std::vector<CaseResult> results;
    for (size_t i = 0; i < cases_.size(); ++i)
      results.push_back(results_[i] ? std::move(*results_[i])
                                    : to_result(cases_[i], Status::kCrash, "no worker told its result"));
    return results;
  }

 private:
  // Processes spend most of their time on meeting each other. What is large has the machine to
  // itself, and a GPU may take one process only.
  bool overlap(const std::map<int, Indexes>& by_ranks) const {
    const auto small = [&](const auto& group) {
      return std::ranges::all_of(group.second, [&](size_t i) { return is_small(cases_[i]); });
    };
    return options_.jobs > 1 && !parity::any_on_cuda(cases_) && std::ranges::all_of(by_ranks, small);
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
    auto mpirun = find_program("mpirun");
    if (!mpirun) mpirun = find_program("mpiexec");
    for (const auto& [ranks, indexes] : by_ranks)
      if (mpirun) {
        Pile pile(cases_, indexes);
        run_all({*mpirun, ranks}, pile);
        if (!stopping_) skip_rest(pile, pile.not_started);
      } else {
        skip(indexes, "mpirun was not found; install Open MPI or put its folder into PATH");
      }
  }

  // Of `workers` that share the cores; 0, as many as there are, for one that has them alone.
  static int threads_of_worker(size_t workers) {
    return workers <= 1 ? 0 : std::max(1, static_cast<int>(cores_here() / workers));
  }

  void finish(size_t index, CaseResult result) {
    const std::lock_guard lock(finishing_);
    if (options_.finished && !results_[index]) options_.finished(result);
    results_[index] = std::move(result);
  }

  void skip(const Indexes& indexes, const std::string& reason) {
    for (const size_t index : indexes)
      finish(index, to_result(cases_[index], Status::kSkipped, reason));
  }

  // Cases that up to `most` workers share, and what else there is to do at that time.
  void run_shared(const Indexes& indexes, size_t most, const std::function<void()>& beside = {}) {
    const size_t workers = std::min(most, indexes.size());
    Pile pile(cases_, indexes);
    std::vector<std::function<void()>> players(
        workers, [&] { run_all({"", 0, threads_of_worker(workers)}, pile); });
    if (beside) players.push_back(beside);
    at_once(players, stopping_);
    skip_rest(pile, pile.not_started);
  }

  // One worker after the other, until nothing is left to take or one does not start.
  void run_all(const Transport& transport, Pile& pile) {
    while (!pile.deck.empty() && !stopping_) {
      if (Interrupts::noted() != 0) {
        skip_rest(pile, "interrupted by " + Interrupts::text(Interrupts::noted()));
        return;
      }
      if (!run_some(transport, pile)) return;
    }
  }

  // What nobody has taken; how much that is.
  size_t skip_rest(const Pile& pile, const std::string& reason) {
    Indexes rest;
    while (const auto place = pile.deck.take(kSupervisor)) rest.push_back(pile.indexes[*place]);
    skip(rest, reason);
    return rest.size();
  }

  // Returns when the worker is done, dead or silent, and ended: only then it takes nothing more, and what it took
  // and has no result goes back. False where it did not start.
  bool run_some(const Transport& transport, Pile& pile) {
    const int32_t taker = ++takers_;
    if (!transport.mpirun.empty())  // its ranks take the same
      while (pile.deck.take(taker)) continue;
    // Workers that test one GPU at once would keep each other from their cases: the first one does. What
    // it finds, or its death, ends the run or leaves cases skipped, so that no run passes without.
    const bool on_devices = parity::any_on_cuda(pile.cases);
    const bool tests_devices = on_devices && !devices_taken_.exchange(true);
    WorkerGroup workers(transport, pile.cases, options_.judging,
                        {options_.planted, options_.bundles, options_.transport, options_.timelines,
                         options_.explained, on_devices && !tests_devices, pile.path, taker});

    uint64_t progress = 0;
    auto alive = Clock::now();
    Taken taken;
    for (;;) {
      const bool ended = workers.poll().has_value();  // before the results: none is missed
      const bool nothing_left = pile.deck.empty();    // before what it has: it may take the last one now
      take(workers, pile, taker, taken);
      if (taken.pending.empty() && (nothing_left || (ended && workers.found_nothing_left()))) {
        check_end(workers, taken, tests_devices, pile);
        return true;
      }
      if (ended || Interrupts::noted() != 0 || stopping_)
        break;
      if (const uint64_t now = workers.progress(); now != progress) {
        progress = now;
        alive = Clock::now();
      }
      if (seconds_since(alive) > allowed_silence(pile, taken, progress > 0))
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const Indexes pending_then = taken.pending;
    std::optional<Death> death;
    if (Interrupts::noted() == 0 && !stopping_) death = death_of(workers, seconds_since(alive));
    const std::string how = how_it_ended(workers);
    workers.end();
    take(workers, pile, taker, taken);
    const Cost cost = death ? cost_of(*death, {taken.done, pending_then, taken.pending}) : Cost{};
    if (cost.of == Cost::Of::kTest) charge(pile, cost.test, *death, seconds_since(alive), workers.output());
    for (const size_t place : taken.pending)
      if (cost != Cost{Cost::Of::kTest, place}) pile.deck.put_back(place);
    const bool started = cost.of != Cost::Of::kStart;
    if (!started) did_not_start(pile, tests_devices, how, workers.output());
    return started;
  }

  // By place: what a worker has done, in this order, and what it has and has not done.
  struct Taken {
    Indexes done, pending;
  };

  void take(WorkerGroup& workers, const Pile& pile, int32_t taker, Taken& taken) {
    for (Finished& finished : workers.take_finished()) {
      taken.done.push_back(finished.index);
      finish(pile.indexes.at(finished.index), std::move(finished.result));
    }
    std::vector<bool> done(pile.indexes.size());
    for (const size_t place : taken.done) done[place] = true;
    taken.pending = pile.deck.of(taker);
    std::erase_if(taken.pending, [&](size_t place) { return done[place]; });
  }

  // Where a judging is wrong, nothing of the run counts.
  static void check_self_test(WorkerGroup& workers) {
    if (const std::optional<Ended> ended = workers.poll(); ended && ended->code == exit_codes::kSelfTest)
      throw parity::SelfTestFailed(self_test_in_a_line(workers.output()));
  }

  static Death death_of(WorkerGroup& workers, double silent) {
    if (!workers.poll()) workers.show_stacks();
    check_self_test(workers);
    const std::string output = workers.output();
    return explain(collect(workers.ranks(), workers.poll(), silent, output));
  }

  static std::string how_it_ended(WorkerGroup& workers) {
    const std::optional<Ended> ended = workers.poll();
    return ended ? "it ended with " + ended->text() : "it gave no sign of life";
  }

  // The case is no pass, whatever its result was so far.
  void charge(const Pile& pile, size_t place, const Death& death, double seconds, const std::string& output) {
    CaseResult result = to_result(pile.cases[place], death.verdict, death.reason);
    result.seconds = seconds;
    result.findings = death.findings;
    result.log = tail(output, kLongestLog);
    finish(pile.indexes[place], std::move(result));
  }

  // What is left goes to the other workers, where there are any, and is skipped in the end: but at once where the
  // GPUs are not tested then.
  void did_not_start(Pile& pile, bool tests_devices, const std::string& how, const std::string& output) {
    const std::string reason = "the worker did not start: " + how + "; " + in_a_line(output);
    {
      const std::lock_guard lock(finishing_);
      pile.not_started = reason;
    }
    if (tests_devices && skip_rest(pile, reason) == 0)
      throw parity::SelfTestFailed("the GPUs were not tested, as " + reason);
  }

  // A worker has to end as well. One that came too late for a case is not waited for, unless it tests the GPUs.
  void check_end(WorkerGroup& workers, const Taken& taken, bool tests_devices, Pile& pile) {
    const bool idle = taken.done.empty();
    if (idle && !tests_devices) return;
    const auto begin = Clock::now();
    while (!workers.poll() && seconds_since(begin) < (idle ? kTimeToStart : kTimeToEnd)) {
      if (idle && (Interrupts::noted() != 0 || stopping_)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::optional<Ended> ended = workers.poll();
    if (ended && ended->well()) return;
    check_self_test(workers);
    if (idle) return did_not_start(pile, tests_devices, how_it_ended(workers), workers.output());
    Death death;
    death.verdict = ended ? Status::kCrash : Status::kHang;
    death.reason = "after its last case the worker " + (ended ? "ended with " + ended->text() : std::string("did not end"));
    charge(pile, taken.done.back(), death, seconds_since(begin), workers.output());
  }

  double allowed_silence(const Pile& pile, const Taken& taken, bool started) const {
    const parity::Case& next = pile.cases[taken.pending.empty() ? 0 : taken.pending.front()];
    const double allowed = options_.deadline_seconds.value_or(deadline_of(next));
    return started ? allowed : std::max(allowed, kTimeToStart);
  }

  const std::vector<parity::Case>& cases_;
  const SupervisorOptions& options_;
  std::vector<std::optional<CaseResult>> results_;
  std::mutex finishing_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int32_t> takers_ = kSupervisor;  // workers so far
  std::atomic<bool> devices_taken_ = false;  // by a worker that tests them before its first case
};

}  // namespace

std::vector<CaseResult> supervise(const std::vector<parity::Case>& cases,
                                  const SupervisorOptions& options) {
  const Interrupts interrupts;
  return Supervision(cases, options)();
}

}  // namespace ringcheck::cli
