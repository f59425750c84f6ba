// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck worker: runs cases under the supervisor. Not meant to be typed.
#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verify/inspect.h"
#include "cli/verify/oracles.h"
#include "cli/workers/status_file.h"
#include "cli/subcommand.h"
#include "cli/to_result.h"
#include "cp/error.h"
#include "cp/worlds/mpi_world.h"
#include "parity/judge/runner.h"
#include "parity/judge/device_test.h"

namespace ringcheck::cli {
namespace {

// The supervisor decides what hangs; this only bounds a worker that has lost it.
constexpr std::chrono::hours kOwnDeadline{12};

struct Options {
  std::string cases, status, results, oracles, inspect;
  int64_t sample = 0;
  int mpi = 0;  // ranks that mpirun was asked for; 0: threads of this process
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

// Finished cases, a JSON line each: {"index": ..., "case": {...}}.
class Results {
 public:
  explicit Results(const std::string& path) : stream_(path, std::ios::app) {}
  void write(size_t index, const reports::CaseResult& result) {
    stream_ << nlohmann::json{{"index", index}, {"case", reports::to_json(result)}}.dump(
                   -1, ' ', false, nlohmann::json::error_handler_t::replace)
            << "\n"
            << std::flush;
  }

 private:
  std::ofstream stream_;
};

parity::Judging judging_of(const Options& options) {
  return {parse_oracles(options.oracles), options.sample};
}

bool passes_self_test(const std::vector<parity::Case>& cases) {
  try {
    parity::test_devices_of(cases);
    return true;
  } catch (const parity::SelfTestFailed& error) {
    std::cerr << error.what() << std::endl;
    return false;
  }
}

int run_threads(const Options& options) {
  const std::vector<parity::Case> cases = read_cases(options.cases);
  const StatusFile status = StatusFile::open(options.status);
  status.note_signals();
  Results results(options.results);
  parity::RunOptions run;
  run.deadline = kOwnDeadline;
  run.judging = judging_of(options);
  run.observer = [&](int rank, const Operation& operation) { status.enter(rank, operation); };
  if (!passes_self_test(cases))
    return exit_codes::kSelfTest;
  for (size_t i = 0; i < cases.size(); ++i) {
    for (int rank = cases[i].world; rank-- > 0;)
      status.begin(rank, static_cast<int>(i));
    try {
      results.write(i, to_result(parity::verify(cases[i], run)));
    } catch (const std::exception& error) {
      results.write(i, to_result(cases[i], reports::Status::kCrash, error.what()));
    }
  }
  status.done(0);
  return 0;
}

// One rank of an MPI world, case after case. All ranks finish a case before the next one begins.
void run_rank(Session& mpi, const std::vector<parity::Case>& cases,
              const parity::Judging& judging, const StatusFile& status, Results* results) {
  const int rank = mpi.rank();
  // On one machine ranks and GPUs are numbered alike.
  const auto gpus = parity::any_on_cuda(cases) ? on_gpus(mpi, rank) : nullptr;
  const auto observe = [&](const Operation& operation) { status.enter(rank, operation); };
  parity::RunOptions run;
  run.deadline = kOwnDeadline;
  run.judging = judging;
  run.observer = [&](int, const Operation& operation) { observe(operation); };
  for (size_t i = 0; i < cases.size(); ++i) {
    status.begin(rank, static_cast<int>(i));
    const auto world = (cases[i].device == "cuda" ? *gpus : mpi).world(kOwnDeadline);
    world->ledger().observe(observe);
    const auto verdict = parity::verify(cases[i], *world, run);
    if (results != nullptr && verdict)
      results->write(i, to_result(*verdict));
    world->agree_max(int64_t{0});
  }
  status.done(rank);
}

int run_mpi(const Options& options) {
  // mpirun's death is ours: no rank may outlive the supervisor.
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent || parent == 1)
    return exit_codes::kDead;

  int argc = 0;
  char** argv = nullptr;
  MpiSession mpi(argc, argv);
  if (mpi.size() != options.mpi) {
    std::cerr << "mpirun was asked for " << options.mpi << " ranks, but MPI says " << mpi.size()
              << ": mpirun belongs to another MPI than the one that ringcheck is "
              << "linked with; put the right one first in PATH\n";
    return exit_codes::kUsage;
  }
  at::set_num_threads(1);
  const StatusFile status = StatusFile::open(options.status);
  status.note_signals();
  try {
    const std::vector<parity::Case> cases = read_cases(options.cases);
    std::unique_ptr<Results> results;
    if (mpi.rank() == 0)
      results = std::make_unique<Results>(options.results);
    if (mpi.rank() == 0 && !passes_self_test(cases))  // the rank that judges
      mpi.abort(exit_codes::kSelfTest);
    run_rank(mpi, cases, judging_of(options), status, results.get());
  } catch (const Timeout& error) {
    status.failed(mpi.rank(), RankState::kTimedOut, error.what());
    std::cerr << "rank " << mpi.rank() << ": " << error.what() << std::endl;
    mpi.abort(exit_codes::kDead);
  } catch (const std::exception& error) {
    status.failed(mpi.rank(), RankState::kThrew, error.what());
    std::cerr << "rank " << mpi.rank() << ": " << error.what() << std::endl;
    mpi.abort(exit_codes::kDead);
  }
  return 0;
}

int run(const Options& options) {
  if (!options.inspect.empty())
    return print_inspection(options.inspect);
  return options.mpi > 0 ? run_mpi(options) : run_threads(options);
}

const Subcommands::Add add("worker", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("runs cases under the supervisor; not meant to be typed");
  program.group("");
  program.add_option("--cases", options->cases);
  program.add_option("--status", options->status);
  program.add_option("--results", options->results);
  program.add_option("--oracles", options->oracles);
  program.add_option("--sample", options->sample);
  program.add_option("--mpi", options->mpi);
  program.add_option("--inspect", options->inspect);
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
