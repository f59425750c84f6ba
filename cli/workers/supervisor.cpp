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

#include "cli/process/programs.h"
#include "cli/workers/dealing.h"
#include "cli/workers/death.h"
#include "cli/workers/interrupts.h"
#include "cli/workers/pile.h"
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
constexpr size_t kLineShown = 240;
constexpr int32_t kSupervisor = 1;  // as one who takes cases

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

using Indexes = std::vector<size_t>;

class Supervision {
 public:
  Supervision(const std::vector<parity::Case>& cases, const SupervisorOptions& options)
      : cases_(cases), options_(options), results_(cases.size()) {}

  std::vector<CaseResult> operator()() {
    std::map<int, Indexes> groups = by_transport();
    const Dealt dealt = deal(cases_, groups[0]);
    groups.erase(0);
    run_all({}, dealt.large);
    const size_t workers = std::min(static_cast<size_t>(options_.jobs), dealt.small.size());
    std::vector<std::function<void()>> players;
    const Pile small(cases_, dealt.small);
    for (size_t worker = 0; worker < workers; ++worker)
      players.push_back([&] { run_all({"", 0, threads_of_worker(workers)}, small); });
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

  void run_all(const Transport& transport, const Indexes& indexes) { run_all(transport, Pile(cases_, indexes)); }

  // One worker after the other, until nothing is left to take.
  void run_all(const Transport& transport, const Pile& pile) {
    while (!pile.deck.empty() && !stopping_) {
      if (Interrupts::noted() != 0) {
        skip_rest(pile, "interrupted by " + Interrupts::text(Interrupts::noted()));
        return;
      }
      run_some(transport, pile);
    }
  }

  // What nobody has taken; how much that is.
  size_t skip_rest(const Pile& pile, const std::string& reason) {
    Indexes rest;
    while (const auto place = pile.deck.take(kSupervisor)) rest.push_back(pile.indexes[*place]);
    skip(rest, reason);
    return rest.size();
  }

  // Returns when the worker is done, dead or silent. What it took and has no result goes back.
  void run_some(const Transport& transport, const Pile& pile) {
    const int32_t taker = ++takers_;
    if (!transport.mpirun.empty())  // its ranks take the same
      while (pile.deck.take(taker)) continue;
    // Workers that test one GPU at once would keep each other from their cases: the first one does. What
    // it finds, or its death, ends the run or leaves cases skipped, so that no run passes without.
    const bool on_devices = parity::any_on_cuda(pile.cases);
    const bool tests_devices = on_devices && !devices_taken_.exchange(true);
    WorkerGroup workers(transport, pile.cases, options_.judging,
                        {options_.planted, options_.bundles, options_.transport, options_.timelines,
                         on_devices && !tests_devices, pile.path, taker});

    uint64_t progress = 0;
    auto alive = Clock::now();
    Indexes done, pending;
    bool at_end = false;
    for (;;) {
      const bool ended = workers.poll().has_value();  // before the results: none is missed
      take(workers, pile, done);
      const bool nothing_left = pile.deck.empty();  // before what it has: it may take the last one now
      pending = pile.deck.of(taker);
      std::erase_if(pending, [&](size_t place) { return std::ranges::count(done, place) > 0; });
      // One that has ended well had found nothing left, whatever another one has put back since.
      at_end = pending.empty() && (nothing_left || (!done.empty() && ended && workers.poll()->well()));
      if (ended || at_end || Interrupts::noted() != 0 || stopping_)
        break;
      if (const uint64_t now = workers.progress(); now != progress) {
        progress = now;
        alive = Clock::now();
      }
      if (seconds_since(alive) > allowed_silence(pile, pending, progress > 0))
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (at_end) return check_end(workers, pile, done, tests_devices);
    if (Interrupts::noted() == 0 && !stopping_)
      bury(workers, seconds_since(alive), pile, done, pending, taker);
    for (const size_t place : pending) pile.deck.put_back(place);
  }

  void take(WorkerGroup& workers, const Pile& pile, Indexes& done) {
    for (Finished& finished : workers.take_finished()) {
      done.push_back(finished.index);
      finish(pile.indexes.at(finished.index), std::move(finished.result));
    }
  }

  // The case that was running costs one, and is no longer pending; a worker that never began a case costs all
  // that is left.
  void bury(WorkerGroup& workers, double silent, const Pile& pile, const Indexes& done, Indexes& pending, int32_t taker) {
    if (!workers.poll()) workers.show_stacks();
    const std::string output = workers.output();
    if (workers.poll() && workers.poll()->code == exit_codes::kSelfTest)
      throw parity::SelfTestFailed(in_a_line(output));
    const Death death = explain(collect(workers.ranks(), workers.poll(), silent, output));
    workers.end();
    if (death.test < 0) {
      devices_taken_ = false;
      for (const size_t place : std::exchange(pending, {})) pile.deck.put_back(place);
      return did_not_start(pile, output);
    }
    if (pending.empty())  // between two cases: the next one
      if (const auto next = pile.deck.take(taker)) pending = {*next};
    if (pending.empty()) pending = {done.back()};
    size_t place = static_cast<size_t>(death.test);
    if (std::ranges::count(pending, place) == 0) place = pending.front();
    CaseResult result = to_result(pile.cases[place], death.verdict, death.reason);
    result.seconds = silent;
    result.findings = death.findings;
    result.log = tail(output, 4000);
    std::erase(pending, place);
    finish(pile.indexes[place], std::move(result));
  }

  // Where the others have taken everything, no case is left to say it.
  void did_not_start(const Pile& pile, const std::string& output) {
    const std::string reason = "the worker did not start: " + in_a_line(output);
    if (skip_rest(pile, reason) == 0) throw std::runtime_error(reason);
  }

  // A worker has to end as well: if it cannot, its last case is no pass. One that came too late for a case
  // is not waited for, unless it tests the GPUs.
  void check_end(WorkerGroup& workers, const Pile& pile, const Indexes& done, bool tests_devices) {
    if (done.empty() && !tests_devices) return;
    const auto begin = Clock::now();
    while (!workers.poll() && seconds_since(begin) < (done.empty() ? kTimeToStart : kTimeToEnd))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::optional<Ended> ended = workers.poll();
    if (ended && ended->well()) return;
    if (ended && ended->code == exit_codes::kSelfTest)
      throw parity::SelfTestFailed(in_a_line(workers.output()));
    if (done.empty()) return did_not_start(pile, workers.output());
    CaseResult& result = *results_[pile.indexes[done.back()]];
    result.verdict = ended ? Status::kCrash : Status::kHang;
    result.reason = "after its last case the worker " +
                    (ended ? "ended with " + ended->text() : std::string("did not end"));
    result.log = tail(workers.output(), 4000);
  }

  double allowed_silence(const Pile& pile, const Indexes& pending, bool started) const {
    if (pending.empty()) return std::max(options_.deadline_seconds.value_or(0), kTimeToStart);
    const double allowed = options_.deadline_seconds.value_or(deadline_of(pile.cases[pending.front()]));
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
