// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck_python_door: what it costs a rank that its subject is a function in Python, beside that
// function: verify, then time. RINGCHECK_PYTHON and PYTHONPATH are those of docs/python.md.
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/guarded.h"
#include "cli/environment.h"
#include "cli/to_result.h"
#include "cp/clock.h"
#include "parity/judge/runner.h"
#include "reports/envelope.h"
#include "reports/file.h"

namespace ringcheck::bench {
namespace {

constexpr std::chrono::minutes kDeadline{5};
constexpr double kLimit = 0.005;  // seconds, a case a rank
constexpr uint64_t kFirstSeed = 1000;

// Of timed.py: a function that is right, and the same that shows in place of its lse how long it took.
constexpr const char *kJudged = "attention", *kTimed = "timed";

struct Options {
  // From where one is: the result names it, and is to name no folder of this machine where run in the sources.
  std::string file = std::filesystem::proximate(RINGCHECK_SOURCE_DIR "/bench/python_door/timed.py").string();
  std::string json;
  int calls = 50;
};

std::vector<parity::Case> cases_of(const std::string& file) {
  std::vector<parity::Case> cases;
  for (const char* sizes : {"P2/b1/hq2/hkv2/s64/d16/dv16/float32", "P2/b1/hq2/hkv2/s64/d16/dv16/bf16",
                            "P4/b1/hq4/hkv4/s256/d64/dv64/float32", "P2/b1/hq8/hkv8/s1024/d64/dv64/float32"})
    cases.push_back(parity::parse_case("subject:python[" + file + ":" + kJudged + "]/contiguous/full/" + sizes));
  return cases;
}

// What the judge waits for on one rank, from the question what is promised to the tensors, without what the
// function says that it took. The case is new to everybody, but for its seed.
double beside_the_function(Communicator& comm, const parity::Subject& subject, const parity::Case& test) {
  const parity::RankInput input = parity::input_of({.test = test}, comm.rank());
  comm.agree_max(int64_t{0});
  const auto begin = Clock::now();
  if (const auto reason = subject.refuses(test)) throw parity::BadCase(*reason);
  subject.promise(test);
  const parity::RankOutput output = subject.run(comm, test, input);
  return seconds_since(begin) - output.lse.flatten()[0].item<double>();
}

// Of every rank in every call; the first call makes the processes and their group.
std::vector<reports::Figure> samples_of(parity::Case test, const Options& options) {
  test.subject = "python[" + options.file + ":" + kTimed + "]";
  const parity::SharedSubject subject = parity::subject_of(test);
  std::vector<reports::Figure> samples;
  std::mutex mutex;
  run({test.world, kDeadline}, [&](Communicator& comm) {
    for (int call = 0; call <= options.calls; ++call) {
      parity::Case another = test;
      another.seed = kFirstSeed + static_cast<uint64_t>(call);
      const double seconds = beside_the_function(comm, *subject, another);
      const std::lock_guard lock(mutex);
      if (call > 0) samples.push_back(seconds);
    }
  });
  return samples;
}

// A wrong result has no speed.
void measure(const parity::Case& test, const Options& options, reports::Result& result) {
  parity::RunOptions how;
  how.deadline = kDeadline;
  const auto begin = Clock::now();
  result.cases.push_back(cli::to_result(parity::verify(test, how)));
  result.cases.back().seconds = seconds_since(begin);
  if (result.cases.back().verdict != reports::Status::kPass) return;
  result.measurements.push_back(
      {"beside_the_function", result.cases.back().parts, "s", samples_of(test, options), "smaller", reports::Figure(kLimit)});
}

int run(const Options& options) {
  if (!options.json.empty()) reports::check_writable(options.json);
  const auto begin = Clock::now();
  reports::Result result;
  result.kind = reports::Kind::kScaling;
  result.environment = cli::environment();
  result.environment.command = "ringcheck_python_door --calls " + std::to_string(options.calls);
  for (const parity::Case& test : cases_of(options.file)) measure(test, options, result);
  result.summary = reports::summary_of(result.cases);
  result.environment.wall_seconds = seconds_since(begin);
  const nlohmann::json file = reports::to_json(result);
  reports::screen_beside(options.json) << reports::file_text(file) << std::flush;
  if (!options.json.empty()) reports::write_json(options.json, file);
  return result.summary.passed == result.summary.cases ? 0 : exit_codes::kWrong;
}

}  // namespace
}  // namespace ringcheck::bench

int main(int argc, char** argv) {
  ringcheck::bench::Options options;
  CLI::App program("verify, then time what a function in Python costs beside itself");
  program.add_option("--file", options.file, "with the functions attention and timed");
  program.add_option("--calls", options.calls, "timed calls of each case")->check(CLI::Range(1, 10000));
  program.add_option("--json", options.json, "where to write what is printed");
  CLI11_PARSE(program, argc, argv);
  return ringcheck::bench::guarded("ringcheck_python_door", [&] { return ringcheck::bench::run(options); });
}
