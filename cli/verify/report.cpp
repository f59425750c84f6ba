// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report: a result of `ringcheck verify`, as the run that wrote it printed it.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/read_json.h"
#include "cli/subcommand.h"
#include "reports/console.h"
#include "reports/kind.h"
#include "reports/result.h"

namespace ringcheck::cli {
namespace {

reports::Result result_in(const std::string& path) {
  const nlohmann::json json = read_json(path);
  try {
    reports::Result result = reports::result_from_json(json);
    if (!reports::has_cases(result.kind))
      throw std::invalid_argument("it is of kind " + reports::to_text(result.kind));
    return result;
  } catch (const std::exception& error) {
    throw UsageError("'" + path +
                     "' is no result with cases, of `ringcheck verify`: " + error.what());
  }
}

int run(const std::string& path) {
  const reports::Result result = result_in(path);
  const std::string& command = result.environment.command;
  const std::string prefix = "ringcheck verify: ";
  const std::string what = command.starts_with(prefix) ? command.substr(prefix.size()) : command;
  std::cout << reports::console_header(result.environment, what) << reports::console_report(result)
            << std::flush;
  return 0;
}

const Subcommands::Add add("report", [](CLI::App& program) {
  auto path = std::make_shared<std::string>();
  program.description("prints a result of verify, as the run that wrote it did");
  program.add_option("RESULT", *path, "of `ringcheck verify --json`")->required();
  return [path] { return run(*path); };
});

}  // namespace
}  // namespace ringcheck::cli
