// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report html: a page of a history, or of one result.
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/arguments.h"
#include "cli/files.h"
#include "cli/process/folder.h"
#include "cli/results/read_result.h"
#include "cli/results/report_command.h"
#include "cli/usage_error.h"
#include "cli/workers/interrupts.h"
#include "reports/dashboard/dashboard.h"
#include "reports/file.h"
#include "version.h"

namespace ringcheck::cli {
namespace {

constexpr int64_t kUsuallyLast = 1000;  // runs

struct Words {
  std::string input, output;
  std::optional<int64_t> last;
};

bool is_sqlite(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string begin(15, '\0');
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == "SQLite format 3";
}

bool is_result(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && !is_sqlite(path);
}

// One result is a history of one run.
nlohmann::json data_of(const std::string& path, int64_t last) {
  if (is_result(path)) {
    const reports::Run run = read_run(path);
    const Interrupts interrupts;
    const TemporaryFolder folder;
    reports::History history(folder.file("history.db"), reports::History::Missing::kCreate);
    history.add({run}, "");
    nlohmann::json data = reports::dashboard_data(history, last);
    Interrupts::check();
    return data;
  }
  reports::History history(path);
  return reports::dashboard_data(history, last);
}

int run(const Words& words) {
  check_files(history_files(words.input), {{"-o", words.output}});
  if (words.last && is_result(words.input))
    throw UsageError("--last " + std::to_string(*words.last) + " is of a history, and '" + words.input +
                     "' is none; leave it out, or name a history (ringcheck report add)");
  nlohmann::json data = data_of(words.input, words.last.value_or(kUsuallyLast));
  data["name"] = std::filesystem::path(words.input).filename().string();
  data["of_history"] = !is_result(words.input);
  data["version"] = version();
  reports::write_file(words.output, reports::dashboard_page(data));
  return 0;
}

const ReportCommands::Add add("html", {[](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description("writes a page to look at: the dashboard of a history, or of one result");
  program.add_option("INPUT", words->input, "a history, or a result of any program's --json")->required();
  program.add_option("-o,--output", words->output, "one HTML file with everything in it")
      ->required()
      ->check(not_empty());
  program.add_option("--last", words->last, "of a history: only so many runs, the newest; default: " + std::to_string(kUsuallyLast))
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  return [words] { return run(*words); };
}});

}  // namespace
}  // namespace ringcheck::cli
