// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report add: results into a history.
#include <iostream>
#include <memory>

#include "cli/arguments.h"
#include "cli/results/read_result.h"
#include "cli/results/report_command.h"
#include "reports/history/history.h"
#include "reports/history/plain_text.h"

namespace ringcheck::cli {
namespace {

struct Words {
  std::string history, branch;
  std::vector<std::string> results;
};

// Every file is read before the history is opened: a bad one changes nothing.
int run(const Words& words) {
  std::vector<reports::Run> runs;
  for (const std::string& path : words.results) runs.push_back(read_run(path));
  reports::History history(words.history, reports::History::Missing::kCreate);
  const std::vector<bool> added = history.add(runs, words.branch);
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
