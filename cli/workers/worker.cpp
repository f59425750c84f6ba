// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck worker: runs cases under the supervisor. Not meant to be typed.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/bundle/bundle.h"
#include "cli/verify/inspect.h"
#include "cli/verify/oracles.h"
#include "cli/workers/sharing/deck.h"
#include "cli/workers/last_words.h"
#include "cli/workers/plugins.h"
#include "cli/workers/said.h"
#include "cli/workers/self_test.h"
#include "cli/workers/status_file.h"
#include "cli/subcommand.h"
#include "cli/transport.h"
#include "cli/to_result.h"
#include "cp/device/await.h"
#include "cp/device/cuda_library.h"
#include "cp/device/moment.h"
#include "cp/error.h"
#include "cp/words.h"
#include "cp/worlds/job.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/device_test.h"
#include "parity/judge/devices/on_devices.h"
#include "parity/judge/runner.h"
#include "parity/subject/python/json_socket.h"
#include "parity/subject/python/stacks.h"

namespace ringcheck::cli {
namespace {

// The supervisor decides what hangs; this only bounds a worker that has lost it.
constexpr std::chrono::hours kOwnDeadline{12};

constexpr double kKept = 1 << 30;  // bytes of a GPU that a worker keeps from one case to the next, for speed

struct Options {
  std::string cases, deck, status, results, oracles, planted, inspect, plugin, bundles, kept;
  int32_t taker = Deck::kNobody;
  int64_t sample = 0;
  bool timelines = false, unexplained = false;
  bool no_device_test = false;  // another worker of the run does it
  int mpi = 0;  // ranks that mpirun was asked for; 0: threads of this process
  std::string transport = kUsualGpuTransport;
};

std::vector<parity::Case> read_cases(const std::string& path) {
  std::ifstream stream(path);
  if (!stream)
    throw UsageError("cannot read the cases in '" + path + "'");
  std::vector<parity::Case> cases;
  for (std::string line; std::getline(stream, line);)
    cases.push_back(parity::parse_case(line));
  return cases;
}

// Loads CUDA where the cases need it: a subject from outside does not, nor does who tests no device.
std::vector<parity::Case> with_cuda(std::vector<parity::Case> cases) {
  if (parity::any_on_cuda(cases) && why_no_cuda()) throw UsageError(*why_no_cuda());
  return cases;
}

// Finished cases, a JSON line each: {"index": ..., "case": {...}}.
class Results {
 public:
  explicit Results(const std::string& path) : stream_(path, std::ios::app) {}
  // Throws where the disk is full: else the case would look like one that hangs.
  void write(size_t index, const reports::CaseResult& result) {
    stream_ << nlohmann::json{{"index", index}, {"case", reports::to_json(result)}}.dump(
                   -1, ' ', false, nlohmann::json::error_handler_t::replace)
            << "\n"
            << std::flush;
    if (!stream_)
      throw std::runtime_error(std::string("its result cannot be written to TMPDIR: ") +
                               std::strerror(errno));
  }

 private:
  std::ofstream stream_;
};

parity::Judging judging_of(const Options& options) {
  return cli::judging_of(options.oracles, options.sample, options.kept);
}

bool passes_self_test(const std::vector<parity::Case>& cases, const Options& options) {
  try {
    parity::test_before(cases, judging_of(options), judging_with(options.planted));
    if (!options.no_device_test) parity::test_devices_of(cases);
    return true;
  } catch (const parity::SelfTestFailed& error) {
    std::cerr << error.what() << std::endl;
    return false;
  }
}

// Whether this process can still compute where the case did: on a GPU an illegal access ends all that
// the process may do there.
bool still_computes(const parity::Case& test) {
  const at::DeviceType type = parity::device_type_of(test);
  try {
    for (int gpu = 0; type != at::kCPU && gpu < device_count(type); ++gpu)
      at::ones({1}, at::Device(type, static_cast<at::DeviceIndex>(gpu))).item<float>();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// What goes wrong in a case is its verdict. Throws where nothing can be computed after it: the next
// case needs another process.
reports::CaseResult judged(const parity::Case& test, const parity::RunOptions& run) {
  const Said said;
  try {
    reports::CaseResult result = to_result(parity::verify(test, run));
    if (result.verdict != reports::Status::kPass) result.log = said.text();
    return result;
  } catch (const std::exception& error) {
    const std::string why = words_of(error);
    if (!still_computes(test)) throw std::runtime_error(why);
    reports::CaseResult result = to_result(test, reports::Status::kCrash, why);
    result.log = said.text();
    return result;
  }
}

parity::RunOptions run_options(const Options& options) {
  parity::RunOptions run;
  run.judging = judging_of(options);
  if (!options.bundles.empty()) run.failed = keep_in(options.bundles);
  run.timelines = options.timelines;
  run.explained = !options.unexplained;
  return run;
}

int run_threads(const Options& options) {
  const std::vector<parity::Case> cases = with_cuda(read_cases(options.cases));
  const StatusFile status = StatusFile::open(options.status);
  status.note_signals();
  Results results(options.results);
  parity::while_loading([&](int rank) { status.enter(rank, {"load Python"}); });
  parity::RunOptions run = run_options(options);
  run.deadline = kOwnDeadline;
  run.observer = [&](int rank, const Operation& operation) { status.enter(rank, operation); };
  if (!passes_self_test(cases, options))
    return exit_codes::kSelfTest;
  const Deck deck = Deck::open(options.deck);
  while (const std::optional<size_t> taken = deck.take(options.taker)) {
    const size_t i = *taken;
    status.begin_world(cases[i].world, static_cast<int>(i));
    try {
      results.write(i, judged(cases[i], run));
      if (parity::device_type_of(cases[i]) != at::kCPU) parity::give_back_kept(kKept);
    } catch (const std::exception& error) {
      const std::string words = words_of(error);
      status.failed(0, RankState::kThrew, words);
      std::cerr << words << std::endl;
      return exit_codes::kDead;
    }
  }
  status.done(0);
  return 0;
}

// One rank of a world of processes, which has cases that no other world takes, one after the other. All ranks
// finish a case before the next one begins.
void run_rank(Job& job, const std::vector<parity::Case>& cases, const Options& options,
              const StatusFile& status, Results* results) {
  parity::RunOptions run = run_options(options);
  run.observer = [&](int rank, const Operation& operation) { status.enter(rank, operation); };
  parity::ProcessRanks world(
      job.rank(),
      [&](const parity::Case& test) {
        return job.world(parity::device_type_of(test), kOwnDeadline, options.transport);
      },
      run.observer, [&](const parity::Case& test) { return lacks_gpus(test, options.transport); });
  const auto together = job.world(at::kCPU, kOwnDeadline);
  together->agree_max(int64_t{0});  // the self-test of the first one is over
  for (const size_t i : Deck::open(options.deck).of(options.taker)) {
    status.begin(job.rank(), static_cast<int>(i));
    const auto verdict = parity::verify(cases[i], world, run);
    if (results != nullptr && verdict)
      results->write(i, to_result(*verdict));
    together->agree_max(int64_t{0});
  }
  status.done(job.rank());
}

std::unique_ptr<Job> join(const Options& options) {
  try {
    auto job = Job::join(detect_launcher(), {.ranks = options.mpi});
    if (passes_between_gpus(read_cases(options.cases), options.transport)) job->join_gpus(options.transport);
    return job;
  } catch (const std::exception& error) {
    throw UsageError(words_of(error));
  }
}

int run_mpi(const Options& options) {
  // mpirun's death is ours: no rank may outlive the supervisor.
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent || parent == 1)
    return exit_codes::kDead;

  const std::unique_ptr<Job> job = join(options);
  at::set_num_threads(1);
  const StatusFile status = StatusFile::open(options.status);
  status.note_signals();
  const auto give_up = [&](RankState state, const std::exception& error) {
    const std::string words = words_of(error);
    status.failed(job->rank(), state, words);
    std::cerr << "rank " << job->rank() << ": " << words << std::endl;
    job->abort(exit_codes::kDead);
  };
  try {
    const std::vector<parity::Case> cases = with_cuda(read_cases(options.cases));
    std::unique_ptr<Results> results;
    if (job->rank() == 0)
      results = std::make_unique<Results>(options.results);
    if (job->rank() == 0 && !passes_self_test(cases, options))  // the rank that judges
      job->abort(exit_codes::kSelfTest);
    run_rank(*job, cases, options, status, results.get());
  } catch (const Timeout& error) {
    give_up(RankState::kTimedOut, error);
  } catch (const std::exception& error) {
    give_up(RankState::kThrew, error);
  }
  return 0;
}

int run(const Options& options) {
  if (!options.inspect.empty())
    return print_inspection(options.inspect);
  if (!options.plugin.empty())
    return ask_plugin(options.plugin, options.cases.empty() ? std::vector<parity::Case>{} : read_cases(options.cases));
  say_what_ends_this_process();
  parity::show_stacks_on_signal();
  sleep_while_waiting();
  return options.mpi > 0 ? run_mpi(options) : run_threads(options);
}

const Subcommands::Add add("worker", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("runs cases under the supervisor; not meant to be typed");
  program.group("");
  program.add_option("--cases", options->cases);
  program.add_option("--deck", options->deck);
  program.add_option("--taker", options->taker);
  program.add_option("--status", options->status);
  program.add_option("--results", options->results);
  program.add_option("--oracles", options->oracles);
  program.add_option("--sample", options->sample);
  program.add_option("--resume", options->kept);
  program.add_option("--plant-in-judging", options->planted);
  program.add_option("--bundle", options->bundles);
  program.add_flag("--timeline", options->timelines);
  program.add_flag("--unexplained", options->unexplained);
  program.add_flag("--no-device-test", options->no_device_test);
  program.add_option("--mpi", options->mpi);
  program.add_option("--transport", options->transport);
  program.add_option("--inspect", options->inspect);
  program.add_option("--plugin", options->plugin);
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
