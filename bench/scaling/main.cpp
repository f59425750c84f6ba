// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck_scaling: verify, then time cases beside the same problem on one device. Alone it makes
// thread worlds; started as ranks (mpirun -n 4 ringcheck_scaling ...) they are the world, with NCCL
// for what lies on GPUs, or the transports that --transport names, each case over one after the other.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/scaling/judged.h"
#include "bench/scaling/scaled.h"
#include "bench/scaling/worlds.h"
#include "cli/environment.h"
#include "cli/files.h"
#include "cli/plan/known.h"
#include "cli/plan/pick.h"
#include "cli/read_json.h"
#include "cli/to_result.h"
#include "cli/transport.h"
#include "cli/usage_error.h"
#include "cp/device/cuda_library.h"
#include "cp/device/moment.h"
#include "cp/worlds/launcher.h"
#include "cp/worlds/session.h"
#include "reports/envelope.h"
#include "reports/file.h"

namespace ringcheck::bench {
namespace {

const std::map<std::string, Launch> kLaunches{{"calls", Launch::kCalls}, {"graph", Launch::kGraph}};

struct Options {
  std::vector<std::string> cases;
  std::vector<std::string> transports;
  std::vector<std::string> launches{"calls"};  // of kLaunches
  std::string json, figures;
  bool figures_given = false;
  int pairs = 10;
  int64_t sample = 0, groups_alone = 0;
};

// What is no graph does not say so.
void note_launch(Launch launch, std::map<std::string, std::string>& parts) {
  if (launch == Launch::kGraph) parts["launch"] = "graph";
}

void note_launch(Launch launch, reports::CaseResult& test) {
  note_launch(launch, test.parts);
  if (launch == Launch::kGraph) test.name += " as a graph";
}

// What is scaled from some heads on one device, and what is compared with it, says so.
void note_alone(int64_t groups, const parity::Case& test, reports::Measurement& measurement) {
  const bool of_one = measurement.name.find("_on_") != std::string::npos || measurement.name.ends_with("eta");
  if (groups > 0 && of_one)
    measurement.parts["alone"] = std::to_string(groups) + " of " + std::to_string(test.kv_heads) + " key heads";
}

// The case, and, where it passes, it and the same problem on each device alone timed: a wrong result has
// no speed.
void measure(Worlds& worlds, const parity::Case& test, const std::string& transport, Launch launch,
             const Options& options, reports::Result& result) {
  worlds.over(transport);
  const auto begin = std::chrono::steady_clock::now();
  const Judged judged = worlds.verify(test, launch);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const bool passes = judged.status == parity::Status::kPass;
  const std::string reason = passes ? "" : "it was not timed, as it does not pass: " + judged.why;
  if (!passes && worlds.speaks()) std::cerr << parity::to_text(test) << ": " << reason << "\n";
  result.cases.push_back(cli::to_result(test, reports::parse_status(parity::to_text(judged.status)), reason));
  result.cases.back().seconds = took.count();
  cli::note_sample(options.sample, result.cases.back());
  cli::note_transport(transport, result.cases.back());
  note_launch(launch, result.cases.back());
  if (!passes) return;
  const Timed how{options.pairs, launch, options.groups_alone};
  const Alone alone = worlds.time_alone(test, how);
  const Timing timing = worlds.time(test, how);
  if (!worlds.speaks()) return;
  for (auto& measurement : measurements_of({test, devices_of(test), judged.errors, timing, alone})) {
    cli::note_transport(transport, measurement.parts);
    note_launch(launch, measurement.parts);
    note_alone(options.groups_alone, test, measurement);
    result.measurements.push_back(std::move(measurement));
  }
}

// What strategy auto goes by, where a case has it.
std::optional<cli::Figures> figures_for(const Options& options) {
  const std::string &path = options.figures, want = "a result of ringcheck_scaling of two lengths or more on two GPUs or more";
  if (std::ranges::none_of(options.cases, cli::is_auto)) {
    if (options.figures_given)
      throw cli::UsageError("--figures '" + path + "' is what strategy auto goes by, and no --case begins with auto/; leave it out");
    return std::nullopt;
  }
  if (!options.figures_given) return cli::figures_of_gpu(cli::kUsualGpu);
  if (path.empty()) throw cli::UsageError("--figures is empty; want " + want);
  cli::check_files({path}, {{"--json", options.json}});
  try {
    return cli::figures_of(reports::result_from_json(cli::read_json(path)));
  } catch (const cli::UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw cli::UsageError("--figures '" + path + "': " + error.what() + "; want " + want);
  }
}

parity::Case case_of(const std::string& text, const std::optional<cli::Figures>& figures, bool speaks) {
  if (!cli::is_auto(text)) return parity::parse_case(text);
  const cli::Pick pick = cli::picked(text, *figures);
  if (speaks) std::cerr << "ringcheck_scaling: " << pick.why << "\n";
  return pick.test;
}

std::vector<parity::Case> cases_of(const Options& options, bool launched, bool speaks) {
  const std::optional<cli::Figures> figures = figures_for(options);
  std::vector<parity::Case> cases;
  for (const std::string& text : options.cases) {
    cases.push_back(case_of(text, figures, speaks));
    cases.back().world_kind = launched ? "mpi" : "thread";
    parity::validate(cases.back());
    if (const auto reason = parity::not_supported(cases.back())) throw parity::BadCase(*reason);
  }
  return cases;
}

std::vector<std::string> transports_of(const Options& options) {
  return options.transports.empty() ? std::vector<std::string>{kUsualGpuTransport} : options.transports;
}

reports::Result result_of(Worlds& worlds, const std::vector<parity::Case>& cases,
                          const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  reports::Result result;
  result.kind = reports::Kind::kScaling;
  result.environment = cli::environment();
  result.environment.command = "ringcheck_scaling --pairs " + std::to_string(options.pairs) +
                               (options.sample > 0 ? " --sample " + std::to_string(options.sample) : "") +
                               (options.groups_alone > 0 ? " --groups-alone " + std::to_string(options.groups_alone) : "");
  if (parity::any_on_cuda(cases)) result.environment.device = describe_gpus();
  for (const parity::Case& test : cases)
    for (const std::string& transport : transports_of(options))
      for (const std::string& launch : options.launches)
        measure(worlds, test, transport, kLaunches.at(launch), options, result);
  result.summary = reports::summary_of(result.cases);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  result.environment.wall_seconds = wall.count();
  return result;
}

// One device cannot compute more key heads than there are, nor fewer than its strategy cuts apart. Throws cli::UsageError.
void check_groups_alone(const Options& options, const std::vector<parity::Case>& cases) {
  const std::string said = "--groups-alone " + std::to_string(options.groups_alone);
  for (const parity::Case& test : cases) {
    if (options.groups_alone > test.kv_heads)
      throw cli::UsageError(said + " is more than the " + std::to_string(test.kv_heads) + " key heads of " +
                            parity::to_text(test) + "; use at most those");
    if (const auto reason = parity::not_supported(alone(test, options.groups_alone)))
      throw cli::UsageError(said + " of " + parity::to_text(test) + ", on one device: " + *reason);
  }
}

// Whether the ranks of every case can keep a pass as a graph. Throws cli::UsageError.
void check_launches(const Options& options, const std::vector<parity::Case>& cases, bool launched) {
  const auto asked = [](const std::vector<std::string>& words, const char* word) { return std::ranges::count(words, word) > 0; };
  if (!asked(options.launches, "graph")) return;
  const auto refuse = [](const std::string& what, const std::string& fix) {
    throw cli::UsageError("--launch graph keeps a pass as a graph of the GPU, which " + what + "; " + fix);
  };
  for (const parity::Case& test : cases) {
    if (test.device == "cpu") refuse("a case on the cpu does not have: " + parity::to_text(test), "use device cuda");
    if (test.rope.pairing != Rope::Pairing::kNone)
      refuse("does not make the angles of a rotary embedding: " + parity::to_text(test), "leave rope: out");
    if (test.world > 1 && !launched)
      refuse("holds what one process queues by itself, and " + std::to_string(test.world) + " threads wait for each other",
             "start the ranks as processes (mpirun, torchrun), or use world 1");
  }
  if (asked(options.transports, "ipc"))
    refuse("ranks over transport ipc cannot: their hosts meet while it is queued", "leave --transport ipc out");
}

int run(const Options& options) {
  const auto launcher = detect_launcher();
  const bool speaks = !launcher || launcher->rank <= 0;
  const std::vector<parity::Case> cases = cases_of(options, launcher.has_value(), speaks);
  if (!options.json.empty() && speaks)
    reports::check_writable(options.json);
  std::unique_ptr<Worlds> worlds;
  for (const std::string& transport : options.transports) cli::check_transport(transport, cases);
  check_launches(options, cases, launcher.has_value());
  check_groups_alone(options, cases);
  if (launcher) worlds = ranks_of(*launcher, options.transports, options.sample);
  else worlds = threads(options.sample);
  reports::Result result;
  try {
    result = result_of(*worlds, cases, options);
    if (launcher) {
      result.environment.launcher = describe(*launcher);
      for (const std::string& transport : transports_of(options))
        result.environment.transport += (result.environment.transport.empty() ? "" : "; ") +
                                        cli::transport_text(transport, *launcher, cases);
    }
  } catch (const std::exception& error) {
    std::cerr << "ringcheck_scaling: " << error.what() << std::endl;
    worlds->abandon(5);
    return 5;
  }
  if (worlds->speaks()) {
    const nlohmann::json file = reports::to_json(result);
    reports::screen_beside(options.json) << reports::file_text(file) << std::flush;
    if (!options.json.empty()) reports::write_json(options.json, file);
  }
  return result.summary.passed == result.summary.cases ? 0 : 1;
}

}  // namespace
}  // namespace ringcheck::bench

int main(int argc, char** argv) {
  ringcheck::bench::Options options;
  CLI::App program("verify, then time cases of context-parallel attention beside one device");
  program
      .add_option("--case", options.cases,
                  "a case in its text form; may be repeated; one that begins with auto/ takes the strategy "
                  "that ringcheck plan predicts to be the fastest")
      ->required();
  program.add_option("--pairs", options.pairs, "timed passes, each with and without the ledger")
      ->check(CLI::Range(1, 10000));
  program.add_option("--sample", options.sample,
                     "verify N random queries and keys of each head, where the sequence is longer")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  program.add_option("--groups-alone", options.groups_alone,
                     "key heads that one device computes, with their query heads, for the time of all of them on it; "
                     "default: all")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20));
  program
      .add_option("--transport", options.transports,
                  ringcheck::cli::transport_help() + "; several: each case over one after the other")
      ->delimiter(',');
  program
      .add_option("--launch", options.launches,
                  "calls: kernel by kernel; graph: each pass as a CUDA graph (one rank, or processes over NCCL); both: "
                  "calls,graph")
      ->delimiter(',')
      ->check(CLI::IsMember(ringcheck::bench::kLaunches));
  const CLI::Option* figures = program.add_option(
      "--figures", options.figures, "what auto goes by, a result of this program; default: that of two H200");
  program.add_option("--json", options.json, "where to write what is printed");
  CLI11_PARSE(program, argc, argv);
  options.figures_given = figures->count() > 0;
  try {
    return ringcheck::bench::run(options);
  } catch (const ringcheck::parity::BadCase& error) {
    std::cerr << "ringcheck_scaling: " << error.what() << "\n";
    return 2;
  } catch (const ringcheck::cli::UsageError& error) {
    std::cerr << "ringcheck_scaling: " << error.what() << "\n";
    return 2;
  } catch (const ringcheck::BadLaunch& error) {
    std::cerr << "ringcheck_scaling: " << error.what() << "\n";
    return 2;
  } catch (const ringcheck::reports::Unwritable& error) {
    std::cerr << "ringcheck_scaling: " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "ringcheck_scaling: " << error.what() << std::endl;
    return 5;
  }
}
