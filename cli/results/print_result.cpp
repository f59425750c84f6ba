// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/results/print_result.h"

#include <ostream>

#include "cli/screen.h"
#include "reports/screen/console.h"
#include "reports/median.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

std::string parts_text(const reports::Measurement& one) {
  std::string text;
  for (const auto& [name, value] : one.parts) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

}  // namespace

void print_result(const reports::Result& result, std::ostream& screen) {
  const std::string& command = result.environment.command;
  const std::string prefix = "ringcheck verify: ";
  const std::string what = command.starts_with(prefix) ? command.substr(prefix.size()) : command;
  const reports::Paint paint = paint_on(screen);
  screen << reports::console_header(result.environment, what, paint);
  if (reports::has_cases(result.kind))
    screen << reports::console_report(result, reports::exit_code(result.cases), paint);
  for (const reports::Measurement& one : result.measurements)
    screen << "  " << reports::left(one.name, 22) << reports::right(
                     reports::figure(reports::median(reports::numbers(one.samples))), 10)
              << " " << reports::left(one.unit, 8) << one.samples.size() << " samples  "
              << parts_text(one) << "\n";
  screen << std::flush;
}

}  // namespace ringcheck::cli
