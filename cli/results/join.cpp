// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report join: runs of one program as one result.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/files.h"
#include "cli/results/read_result.h"
#include "cli/results/report_command.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/compare/join.h"

namespace ringcheck::cli {
namespace {

struct Words {
  std::string output;
  std::vector<std::string> results;
};

// What the first file has besides what every result has, as the errors of benchmarks, stays.
nlohmann::json joined(const std::vector<std::string>& names) {
  std::vector<reports::Result> runs;
  std::map<std::string, std::string> ids;
  nlohmann::json first;
  for (const std::string& name : names) {
    const reports::Run run = read_run(name);
    if (const auto [known, is_new] = ids.emplace(run.id, name); !is_new)
      throw UsageError("'" + name + "' is the same run as '" + known->second + "'; join different runs");
    const nlohmann::json file = nlohmann::json::parse(run.text);
    if (runs.empty()) first = file;
    try {
      runs.push_back(reports::result_from_json(file));
    } catch (const std::invalid_argument& error) {
      throw UsageError("'" + name + "' is no whole result: " + error.what() + "; join what --json wrote, no summaries of it");
    }
    if (runs.back().kind == runs.front().kind &&
        file.value("bench", nlohmann::json()) != first.value("bench", nlohmann::json()))
      throw UsageError("'" + name + "' has other benchmarks that ended in an error than '" + names[0] +
                       "'; join runs in which all of them have a speed");
  }
  try {
    first.update(reports::to_json(reports::join(runs, names)));
    return first;
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string(error.what()) +
                     "; join runs of one program, commit and machine, of the same cases or of none in common");
  }
}

int run(const Words& words) {
  check_files(words.results, {{"-o", words.output}});
  reports::write_json(words.output, joined(words.results));
  return 0;
}

const ReportCommands::Add add("join", {[](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description("makes one result of runs of one program: of the same cases, with the median of each run as a sample, "
                      "or of different ones, side by side");
  program.add_option("-o,--output", words->output, "the result; - is stdout")->required()->check(not_empty());
  program.add_option("RESULT", words->results, "of any program's --json")->required();
  return [words] { return run(*words); };
}});

}  // namespace
}  // namespace ringcheck::cli
