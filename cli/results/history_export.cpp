// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report export: one run of a history, as the file that was added.
#include <memory>

#include "cli/arguments.h"
#include "cli/files.h"
#include "cli/results/report_command.h"
#include "reports/file.h"
#include "reports/history/history.h"

namespace ringcheck::cli {
namespace {

struct Words {
  std::string history, id, output = "-";
};

int run(const Words& words) {
  check_files(history_files(words.history), {{"-o", words.output}});
  reports::History history(words.history);
  reports::write_file(words.output, history.text(history.find(words.id)));
  return 0;
}

const ReportCommands::Add add("export", {[](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description("writes one run of a history as the result that was added");
  program.add_option("HISTORY", words->history, "of `ringcheck report add`")
      ->required()->check(not_empty())->type_name("FILE");
  program.add_option("RUN", words->id, "the beginning of its id, or latest")
      ->required()->check(not_empty())->type_name("ID");
  program.add_option("-o,--output", words->output, "default: stdout")
      ->check(not_empty())->type_name("FILE");
  return [words] { return run(*words); };
}});

}  // namespace
}  // namespace ringcheck::cli
