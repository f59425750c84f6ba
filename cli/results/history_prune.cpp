// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report prune: old runs out of a history.
#include <iostream>
#include <memory>

#include "cli/arguments.h"
#include "cli/results/report_command.h"
#include "reports/history/history.h"
#include "reports/history/moment.h"

namespace ringcheck::cli {
namespace {

struct Words {
  std::string history, before;
  int64_t keep = 0;
};

int run(const Words& words) {
  if ((words.keep == 0) == words.before.empty())
    throw UsageError("report prune: want either --keep N or --before TIME");
  reports::History history(words.history);
  const int64_t removed = words.keep > 0 ? history.keep_newest(words.keep)
                                         : history.remove_before(words.before);
  const size_t left = history.list().size();
  std::cout << "removed " << removed << (removed == 1 ? " run, " : " runs, ") << left
            << (left == 1 ? " is left" : " are left") << std::endl;
  return 0;
}

// A month 13 would be after all that its year has.
std::string wrong_time(const std::string& text) {
  return reports::begins_moment(text) ? "" : "'" + text + "' is no time; want 2026-11-22 or 2026-11-22T05:28:01Z";
}

const ReportCommands::Add add("prune", {[](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description("removes old runs from a history");
  program.add_option("HISTORY", words->history, "of `ringcheck report add`")
      ->required()->check(not_empty())->type_name("FILE");
  program.add_option("--keep", words->keep, "so many runs, the newest")->check(CLI::Range(int64_t{1}, kMostRuns));
  program.add_option("--before", words->before, "what started before this time, in UTC")
      ->check(wrong_time)->type_name("TIME");
  return [words] { return run(*words); };
}});

}  // namespace
}  // namespace ringcheck::cli
