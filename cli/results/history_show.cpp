// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report show: one run of a history, to read.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/results/print_result.h"
#include "cli/results/read_result.h"
#include "cli/results/report_command.h"
#include "reports/history/history.h"

namespace ringcheck::cli {
namespace {

int run(const std::string& path, const std::string& wanted) {
  reports::History history(path);
  const std::string id = history.find(wanted);
  const reports::Result result = whole_result(id, history.file(id));
  std::cout << "run " << id << "\n";
  print_result(result, std::cout);
  return 0;
}

const ReportCommands::Add add("show", {[](CLI::App& program) {
  auto path = std::make_shared<std::string>(), id = std::make_shared<std::string>();
  program.description("prints one run of a history");
  program.add_option("HISTORY", *path, "of `ringcheck report add`")
      ->required()->check(not_empty())->type_name("FILE");
  program.add_option("RUN", *id, "the beginning of its id, or latest")
      ->required()->check(not_empty())->type_name("ID");
  return [path, id] { return run(*path, *id); };
}});

}  // namespace
}  // namespace ringcheck::cli
