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
#include "cli/workers/death.h"
#include "cli/subcommand.h"
#include "cli/to_result.h"
#include "cli/workers/worker_group.h"
#include "parity/judge/device_test.h"

namespace ringcheck::cli {
namespace {

using Clock = std::chrono::steady_clock;
using reports::CaseResult;
using reports::Status;

constexpr double kShortestDeadline = 30, kTimesPredicted = 20;
constexpr double kTimeToStart = 60, kTimeToEnd = 30;
constexpr size_t kLineShown = 240;
constexpr double kFlopsPerSecond = 3e8;  // of reference and bounds, on a slow core

volatile sig_atomic_t interrupt_signal = 0;

// While it lives, SIGINT, SIGTERM and SIGHUP are noted instead of ending this process.
class Interrupts {
 public:
  Interrupts() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { interrupt_signal = signal; };
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      ::sigaction(signal, &action, &old_[signal]);
  }
  ~Interrupts() {
    for (const auto& [signal, action] : old_)
      ::sigaction(signal, &action, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  std::map<int, struct sigaction> old_;
};

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

// All scores of a case in float64, which the reference may hold, take little memory.
bool is_small(const parity::Case& test) {
  constexpr double kLittle = 1 << 28;
  const auto rows = static_cast<double>(test.batch * test.q_heads * test.seq);
  return rows * static_cast<double>(test.seq) * sizeof(double) <= kLittle;
}

class Supervision {
 public:
  Supervision(const std::vector<parity::Case>& cases, const SupervisorOptions& options)
      : cases_(cases), options_(options), results_(cases.size()) {}

  std::vector<CaseResult> operator()() {
    const std::optional<std::string> mpirun = find_mpirun();
    for (auto& [ranks, indexes] : by_transport()) {
      if (ranks > 0 && !mpirun)
        skip(indexes, "mpirun was not found; install Open MPI or put its folder into PATH");
      else if (ranks > 0)
        run_all({*mpirun, ranks}, indexes);
      else
        run_side_by_side(indexes);
    }
    std::vector<CaseResult> results;
    for (auto& result : results_)
      results.push_back(std::move(*result));
    return results;
  }

 private:
  using Indexes = std::vector<size_t>;

  static std::optional<std::string> find_mpirun() {
    const auto mpirun = find_program("mpirun");
    return mpirun ? mpirun : find_program("mpiexec");
  }

  // Thread worlds first, then MPI worlds by size: one mpirun a size.
  std::map<int, Indexes> by_transport() const {
    std::map<int, Indexes> groups;
    for (size_t i = 0; i < cases_.size(); ++i)
      groups[cases_[i].world_kind == "mpi" ? cases_[i].world : 0].push_back(i);
    return groups;
  }

  // The large cases, each with all of the machine, then the small ones dealt to several workers at a
  // time. The first exception is thrown here, when the workers of the others have ended.
  void run_side_by_side(const Indexes& indexes) {
    std::vector<Indexes> hands(static_cast<size_t>(options_.jobs));
    Indexes large;
    size_t dealt = 0;
    for (const size_t index : indexes)
      (is_small(cases_[index]) ? hands[dealt++ % hands.size()] : large).push_back(index);
    run_all({}, large);
    const int threads = threads_of_worker(std::min(dealt, hands.size()));
    std::exception_ptr failure;
    {
      std::vector<std::jthread> players;
      for (const Indexes& hand : hands)
        if (!hand.empty())
          players.emplace_back([&, hand] {
            try {
              run_all(Transport{"", 0, threads}, hand);
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
      if (interrupt_signal != 0)
        return skip(pending, "interrupted by " + std::string(::strsignal(interrupt_signal)));
      run_some(transport, pending);
    }
  }

  // Returns when the worker is done, dead or silent. Removes what has a result from `pending`.
  void run_some(const Transport& transport, Indexes& pending) {
    std::vector<parity::Case> cases;
    for (const size_t index : pending)
      cases.push_back(cases_[index]);
    const Indexes all = pending;
    WorkerGroup workers(transport, cases, options_.judging, options_.planted);

    uint64_t progress = 0;
    auto alive = Clock::now();
    for (;;) {
      const bool ended = workers.poll().has_value();  // before the results: none is missed
      take(workers, all, pending);
      if (ended || pending.empty() || interrupt_signal != 0 || stopping_)
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
    if (interrupt_signal == 0 && !stopping_)
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
    const std::string output = workers.output();
    if (workers.poll() && workers.poll()->code == exit_codes::kSelfTest)
      throw parity::SelfTestFailed(in_a_line(output));
    const Death death =
        explain(collect(workers.ranks(), workers.poll(), silent, output));
    workers.end();
    if (death.test < 0) {
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

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  const std::vector<parity::Case>& cases_;
  const SupervisorOptions& options_;
  std::vector<std::optional<CaseResult>> results_;
  std::mutex finishing_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace

int default_jobs(const std::vector<parity::Case>& cases) {
  constexpr unsigned kMost = 8;
  if (parity::any_on_cuda(cases) && gpus_are_exclusive())
    return 1;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, kMost));
}

double deadline_of(const parity::Case& test) {
  const double pairs = static_cast<double>(test.batch) * static_cast<double>(test.q_heads) *
                       static_cast<double>(test.seq) * static_cast<double>(test.seq);
  const double predicted =
      pairs * static_cast<double>(8 * test.dim + 6 * test.dim_v) / kFlopsPerSecond;
  return std::max(kShortestDeadline, kTimesPredicted * predicted);
}

std::vector<CaseResult> supervise(const std::vector<parity::Case>& cases,
                                  const SupervisorOptions& options) {
  const Interrupts interrupts;
  return Supervision(cases, options)();
}

}  // namespace ringcheck::cli
