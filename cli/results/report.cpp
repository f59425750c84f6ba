// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report: a result of `ringcheck verify`, as the run that wrote it printed it; and, by
// their names, what keeps results (ReportCommands).
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/arguments.h"
#include "cli/results/print_result.h"
#include "cli/results/read_result.h"
#include "cli/results/report_command.h"
#include "parity/case/text/nearest.h"

namespace ringcheck::cli {
namespace {

int print(const std::string& path) {
  if (path.empty())
    throw UsageError("report: RESULT is required, or one of its commands; see ringcheck report --help");
  print_result(read_result_with_cases(path), std::cout);
  return 0;
}

std::string no_misspelt_command(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& [name, command] : ReportCommands::all()) names.push_back(name);
  std::error_code ignored;  // a name that is too long is no file
  const bool there = std::filesystem::exists(path, ignored);
  const std::string meant = there ? "" : parity::nearest(path, names);
  return meant.empty() ? "" : "unknown word '" + path + "'; did you mean " + meant + "?";
}

const Subcommands::Add add("report", [](CLI::App& program) {
  auto path = std::make_shared<std::string>();
  auto commands = std::make_shared<std::map<CLI::App*, std::function<int()>>>();
  program.description("prints a result of verify as its run did; keeps results in a history");
  program.add_option("RESULT", *path, "of `ringcheck verify --json`")
      ->check(not_empty())
      ->check(no_misspelt_command);
  program.require_subcommand(0, 1);
  for (const auto& [name, command] : ReportCommands::all()) {
    CLI::App* subcommand = program.add_subcommand(name);
    (*commands)[subcommand] = command.declare(*subcommand);
  }
  return [path, commands, &program] {
    const auto chosen = program.get_subcommands();
    if (chosen.empty()) return print(*path);
    if (!path->empty())
      throw UsageError("report: '" + *path + "' stands before " + chosen.front()->get_name() +
                       ", which takes what stands behind it; leave it out");
    return commands->at(chosen.front())();
  };
});

}  // namespace
}  // namespace ringcheck::cli
