// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck_scaling: verify, then time cases beside the same problem on one device. Alone it makes
// thread worlds; started as ranks (mpirun -n 4 ringcheck_scaling ...) they are the world, with NCCL
// for what lies on GPUs, or the transports that --transport names, each case over one after the other.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/guarded.h"
#include "bench/scaling/judged.h"
#include "bench/scaling/options.h"
#include "bench/scaling/scaled.h"
#include "bench/scaling/worlds.h"
#include "cli/arguments.h"
#include "cli/environment.h"
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
  const bool of_one = measurement.name.find("_on_") != std::string::npos || measurement.name.ends_with("eta") || measurement.name == "roofline";
  if (groups > 0 && of_one)
    measurement.parts["alone"] = std::to_string(groups) + " of " + std::to_string(test.kv_heads) + " key heads";
}

// How the traces of a case begin in the folder.
std::string trace_of(const parity::Case& test, const std::string& transport, Launch launch, const std::string& folder) {
  if (folder.empty()) return "";
  std::string name = parity::to_text(test) + (launch == Launch::kGraph ? "_graph" : "");
  if (test.world_kind != "thread") name += "_" + transport;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return (std::filesystem::path(folder) / name).string();
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
  const Timed how{options.pairs, launch, options.groups_alone, trace_of(test, transport, launch, options.trace)};
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

int run(const Options& options) {
  const auto launcher = detect_launcher();
  const bool speaks = !launcher || launcher->rank <= 0;
  const std::vector<parity::Case> cases = cases_of(options, launcher.has_value(), speaks);
  if (!options.json.empty() && speaks)
    reports::check_writable(options.json);
  std::unique_ptr<Worlds> worlds;
  check(options, cases, launcher.has_value());
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
    worlds->abandon(exit_codes::kDead);
    return exit_codes::kDead;
  }
  if (worlds->speaks()) {
    const nlohmann::json file = reports::to_json(result);
    reports::screen_beside(options.json) << reports::file_text(file) << std::flush;
    if (!options.json.empty()) reports::write_json(options.json, file);
  }
  return result.summary.passed == result.summary.cases ? 0 : exit_codes::kWrong;
}

}  // namespace
}  // namespace ringcheck::bench

int main(int argc, char** argv) {
  ringcheck::bench::Options options;
  CLI::App program("verify, then time cases of context-parallel attention beside one device", "ringcheck_scaling");
  program.failure_message(ringcheck::cli::what_was_wrong);
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
                  "calls: kernel by kernel; graph: each pass as a CUDA graph (one rank, or processes); both: "
                  "calls,graph")
      ->delimiter(',')
      ->check(CLI::IsMember(ringcheck::bench::kLaunches));
  const CLI::Option* figures = program.add_option(
      "--figures", options.figures, "what auto goes by, a result of this program; default: that of two H200");
  program.add_option("--trace", options.trace,
                     "a folder for a trace of what the GPUs do in a forward pass, and in both, of each case, for Perfetto; what they "
                     "spend their time on comes into the result")
      ->check(CLI::Validator([](const std::string& folder) { return folder.empty() ? "is empty; name a folder" : ""; }, "FOLDER"));
  program.add_option("--json", options.json, "where to write what is printed")->check(ringcheck::cli::not_empty());
  ringcheck::cli::take_decimals(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : ringcheck::exit_codes::kUsage;
  }
  options.figures_given = figures->count() > 0;
  return ringcheck::bench::guarded("ringcheck_scaling", [&] { return ringcheck::bench::run(options); });
}
