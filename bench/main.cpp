// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "bench/guarded.h"
#include "bench/reporter.h"
#include "bench/sweep.h"
#include "cli/arguments.h"
#include "cli/environment.h"
#include "cp/device/cuda_library.h"
#include "reports/envelope.h"
#include "reports/file.h"

namespace ringcheck::bench {
namespace {

void register_all() {
  std::vector<Benchmark> list;
  for (const auto& [name, add] : Sweeps::all()) add(list);
  for (const auto& entry : list) {
    auto* registered = benchmark::RegisterBenchmark(entry.name.c_str(), entry.body);
    registered->Unit(benchmark::kMillisecond);
    if (entry.manual_time) registered->UseManualTime();
    else registered->UseRealTime();
  }
}

nlohmann::json json_of(const Reporter& reporter, reports::Environment environment) {
  reports::Result result;
  result.kind = reports::Kind::kBench;
  result.environment = std::move(environment);
  result.measurements = reporter.measurements();
  nlohmann::json file = reports::to_json(result), errors = nlohmann::json::array();
  for (const auto& [name, what] : reporter.errors())
    errors.push_back({{"benchmark", name}, {"error", what}});
  file["bench"] = {{"errors", errors}};
  return file;
}

// Runs what Google Benchmark's own flags say.
int run(const std::string& json) {
  if (!json.empty()) reports::check_writable(json);
  reports::Environment environment = cli::environment();
  benchmark::AddCustomContext("ringcheck", environment.version);
  benchmark::AddCustomContext("commit", environment.commit);
  register_all();
  const auto begin = std::chrono::steady_clock::now();
  Reporter reporter;
  reporter.SetOutputStream(&reports::screen_beside(json));
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  environment.command = "ringcheck_bench";
  if (!why_no_cuda()) environment.device = describe_gpus();
  environment.wall_seconds = wall.count();
  if (!json.empty()) reports::write_json(json, json_of(reporter, environment));
  return reporter.exit_code();
}

}  // namespace
}  // namespace ringcheck::bench

int main(int argc, char** argv) {
  using namespace ringcheck;
  benchmark::Initialize(&argc, argv);
  std::string json;
  CLI::App program("times what is right; --help shows the flags of Google Benchmark as well", "ringcheck_bench");
  program.failure_message(cli::what_was_wrong);
  program.add_option("--json", json, "write the result")->type_name("FILE")->check(cli::not_empty());
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : exit_codes::kUsage;
  }
  return bench::guarded("ringcheck_bench", [&] { return bench::run(json); });
}
