// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck replay: a failed case that was kept, judged once more.
#include <ATen/Version.h>

#include <iostream>
#include <memory>

#include "cli/arguments.h"
#include "cli/bundle/bundle.h"
#include "cli/environment.h"
#include "cli/files.h"
#include "cli/screen.h"
#include "cli/subcommand.h"
#include "cli/to_result.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/diagnosis/diagnosis.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/formats/junit.h"
#include "reports/screen/console.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using nlohmann::json;

struct Options {
  std::string folder, json, junit;
};

constexpr size_t kShown = 5;  // figures that differ

// The figures that are others than those recorded, in words.
std::vector<std::string> differences(const json& recorded, const json& now) {
  std::vector<std::string> list;
  for (const json& step : json::diff(recorded, now)) {
    const json::json_pointer place(step.at("path").get<std::string>());
    const auto text = [&](const json& of) { return of.contains(place) ? of.at(place).dump() : "nothing"; };
    list.push_back(place.to_string() + " is " + text(now) + ", recorded as " + text(recorded));
  }
  return list;
}

// Who judged: by another program, or another processor, last bits of float64 may be others.
json judge_of(const reports::Environment& environment, const std::string& capability) {
  return {{"commit", environment.commit},
          {"libtorch", environment.libtorch},
          {"cpu", environment.cpu},
          {"instructions", capability}};
}

struct Replay {
  reports::Result result;
  json recorded_by, judged_by;
  std::vector<std::string> differ;
  bool same_verdict = false;
};

// The case as it was recorded: its tensors may lie in the folder now.
reports::CaseResult named_as(const json& recorded, reports::CaseResult test,
                             const std::string& folder) {
  const reports::CaseResult before = reports::case_from_json(recorded);
  test.name = before.name;
  test.parts = before.parts;
  test.reproduce = before.reproduce;
  test.findings.push_back("replayed from '" + folder + "'");
  return test;
}

json without_findings(json test) {
  test.erase("findings");
  test.erase("explained");
  return test;
}

Replay replay(const std::string& folder) {
  const Bundle bundle = read_bundle(folder);
  const parity::Recording& recording = bundle.recording;
  parity::Case here = recording.test;
  here.device = "cpu";
  parity::test_before({here}, {recording.oracles, recording.sample});
  const json& recorded = bundle.manifest.at("result");
  parity::Verdict verdict = judged(recording);
  explain(verdict, [&] { return recording.problem; }, recording.observed.outcome, [] {});
  reports::CaseResult test = named_as(recorded, to_result(verdict), folder);
  Replay replay;
  replay.differ = differences(without_times(without_findings(recorded)),
                              without_times(without_findings(reports::to_json(test))));
  replay.same_verdict = recorded.at("verdict") == reports::to_text(test.verdict);
  replay.result.environment = environment();
  replay.result.environment.command = "ringcheck replay " + folder;
  replay.result.environment.launcher = "no launcher";
  replay.result.environment.transport = "those of a run that is over, in files";
  replay.recorded_by = judge_of(reports::environment_from_json(bundle.manifest.at("environment")),
                                bundle.manifest.at("cpu_capability"));
  replay.judged_by = judge_of(replay.result.environment, at::get_cpu_capability());
  replay.result.cases.push_back(std::move(test));
  replay.result.summary = reports::summary_of(replay.result.cases);
  return replay;
}

// Last bits may be others where another program judges, or another processor; a verdict may not.
int exit_code_of(const Replay& replay) {
  const bool may_differ = replay.same_verdict && replay.recorded_by != replay.judged_by;
  if (!replay.differ.empty() && !may_differ) return exit_codes::kSelfTest;
  return reports::exit_code(replay.result.cases);
}

std::string bits_text(const Replay& replay) {
  if (replay.differ.empty()) return "every figure is the recorded one, to the last bit";
  std::string text = "not the recorded figures: " + std::to_string(replay.differ.size());
  for (const auto& [who, value] : replay.recorded_by.items())
    if (replay.judged_by.at(who) != value)
      text += "; recorded with " + who + " " + value.get<std::string>() + ", here " +
              replay.judged_by.at(who).get<std::string>();
  return text;
}

void print(const Replay& replay, int code, std::ostream& screen) {
  const reports::Paint paint = paint_on(screen);
  screen << reports::console_header(replay.result.environment, "a case that was kept", paint)
         << reports::console_report(replay.result, code, paint)
         << reports::wrapped("replay: " + bits_text(replay), 2) << "\n";
  for (size_t i = 0; i < std::min(kShown, replay.differ.size()); ++i)
    screen << reports::wrapped(replay.differ[i], 4) << "\n";
  screen << std::flush;
}

int run(const Options& options) {
  check_files(files_of({options.folder}), {{"--json", options.json}, {"--junit", options.junit}});
  const Replay done = replay(options.folder);
  const int code = exit_code_of(done);
  print(done, code, reports::screen_beside({options.json, options.junit}));
  if (!options.json.empty()) reports::write_json(options.json, reports::to_json(done.result));
  if (!options.junit.empty()) reports::write_file(options.junit, reports::junit(done.result));
  return code;
}

const Subcommands::Add add("replay", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("judges a failed case again, from a folder that verify --bundle wrote");
  program.add_option("bundle", options->folder, "the folder of one case")
      ->required()
      ->check(not_empty())
      ->type_name("DIR");
  program.add_option("--json", options->json, "write the result; - is stdout")
      ->check(not_empty())
      ->type_name("FILE");
  program.add_option("--junit", options->junit, "write JUnit XML; - is stdout")
      ->check(not_empty())
      ->type_name("FILE");
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
