// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report add: results into a history.
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/arguments.h"
#include "cli/results/read_result.h"
#include "cli/results/report_command.h"
#include "reports/history/bad_history.h"
#include "reports/history/history.h"
#include "reports/history/plain_text.h"

namespace ringcheck::cli {
namespace {

struct Words {
  std::string history, branch;
  std::vector<std::string> results;
};

std::vector<bool> add_to(const Words& words, const std::vector<reports::Run>& runs) {
  reports::History history(words.history, reports::History::Missing::kCreate);
  return history.add(runs, words.branch);
}

// A new history that could not be filled, as on a full disk, does not stay as an empty file.
std::vector<bool> add_or_leave_none(const Words& words, const std::vector<reports::Run>& runs) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_new = !fs::exists(fs::symlink_status(words.history, ignored));
  try {
    return add_to(words, runs);
  } catch (const reports::BadHistory&) {
    if (is_new && fs::file_size(words.history, ignored) == 0) fs::remove(words.history, ignored);
    throw;
  }
}

// Every file is read before the history is opened: a bad one changes nothing.
int run(const Words& words) {
  std::vector<reports::Run> runs;
  for (const std::string& path : words.results) runs.push_back(read_run(path));
  const std::vector<bool> added = add_or_leave_none(words, runs);
  for (size_t i = 0; i < runs.size(); ++i)
    std::cout << (added[i] ? "added " : "there already: ") << runs[i].id << "  " << words.results[i] << "\n";
  std::cout << std::flush;
  return 0;
}

const ReportCommands::Add add("add", {[](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description("adds results to a history, all or none; what is there already is not added again");
  program.add_option("HISTORY", words->history, "an SQLite file; made where there is none")
      ->required()->check(not_empty())->type_name("FILE");
  program.add_option("RESULT", words->results, "of any program's --json")
      ->required()->check(not_empty())->type_name("FILE");
  program.add_option("--branch", words->branch, "where their commit is; results do not say")
      ->check(not_empty())
      ->check([](const std::string& text) { return reports::not_plain(text, reports::kMostOfName); });
  return [words] { return run(*words); };
}});

}  // namespace
}  // namespace ringcheck::cli
