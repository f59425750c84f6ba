// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report render: a result in a format of others.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/files.h"
#include "cli/read_json.h"
#include "cli/results/read_waivers.h"
#include "cli/results/report_command.h"
#include "cp/words.h"
#include "parity/case/text.h"
#include "reports/file.h"
#include "reports/formats/format.h"
#include "reports/formats/junit.h"
#include "reports/result.h"

namespace ringcheck::cli {
namespace {

struct Words {
  std::string result, format, waivers, output = "-";
};

// Benchmarks that ended in an error have no speed: what is left would look like all there was.
void check_no_errors(const nlohmann::json& json) {
  for (const nlohmann::json& error : json.value("/bench/errors"_json_pointer, nlohmann::json::array()))
    throw std::invalid_argument("its benchmark " + error.at("benchmark").get<std::string>() +
                                " ended in an error: " + error.at("error").get<std::string>());
}

reports::Result read_result(const std::string& path) {
  const nlohmann::json json = read_json(path);
  try {
    check_no_errors(json);
    return reports::result_from_json(json);
  } catch (const std::exception& error) {
    throw UsageError("'" + path + "' cannot be rendered: " + words_of(error) +
                     "; name a whole file that --json of verify, ringcheck_bench or ringcheck_scaling wrote");
  }
}

const reports::Format& format_of(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [one, format] : reports::formats()) known.push_back(one);
  const auto found = reports::formats().find(name);
  if (found == reports::formats().end()) throw UsageError("--as: " + parity::unknown_name("format", name, known));
  return found->second;
}

void check_has_what_it_wants(const Words& words, const reports::Format& format,
                             const reports::Result& result) {
  const bool no_cases = result.cases.empty(), no_measurements = result.measurements.empty();
  const char* missing = format.wants_cases && no_cases                 ? "cases"
                        : format.wants_measurements && no_measurements ? "measurements"
                        : no_cases && no_measurements                  ? "cases and no measurements"
                                                                       : nullptr;
  if (missing != nullptr)
    throw UsageError("'" + words.result + "', of kind " + reports::to_text(result.kind) + ", has no " +
                     missing + " to write as " + words.format +
                     "; verify has cases, ringcheck_bench measurements, ringcheck_scaling both");
}

std::string text_of(const Words& words, const reports::Format& format, const reports::Result& result) {
  if (words.waivers.empty()) return format.text(result);
  std::vector<reports::CaseResult> cases = result.cases;
  return reports::junit(result, reports::waive(read_waivers(words.waivers), cases));
}

int run(const Words& words) {
  const reports::Format& format = format_of(words.format);
  if (!words.waivers.empty() && words.format != "junit")
    throw UsageError("--waivers: " + words.format + " tells nothing of waivers; use --as junit, or leave them out");
  check_files({words.result, words.waivers}, {{"-o", words.output}});
  const reports::Result result = read_result(words.result);
  check_has_what_it_wants(words, format, result);
  reports::write_file(words.output, text_of(words, format, result));
  return 0;
}

std::string help() {
  std::string text = "writes a result in a format of others";
  for (const auto& [name, format] : reports::formats()) text += "\n  " + name + ": " + format.reader;
  return text;
}

const ReportCommands::Add add("render", {[](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description(help());
  program.add_option("RESULT", words->result, "of any program's --json")->required();
  program.add_option("--as", words->format, "which format")->required()->check(not_empty());
  program.add_option("--waivers", words->waivers, "of junit: failures that are known, which it has as skipped")
      ->check(not_empty())->type_name("FILE");
  program.add_option("-o,--output", words->output, "default: stdout")->check(not_empty());
  return [words] { return run(*words); };
}});

}  // namespace
}  // namespace ringcheck::cli
