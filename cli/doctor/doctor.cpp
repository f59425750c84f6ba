// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck doctor: can this machine verify and measure, and if not, what helps?
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/doctor/doctor_gpus.h"
#include "cli/doctor/doctor_host.h"
#include "cli/doctor/doctor_libraries.h"
#include "cli/doctor/doctor_mpi.h"
#include "cli/doctor/doctor_variables.h"
#include "cli/environment.h"
#include "cli/doctor/finding.h"
#include "cli/subcommand.h"
#include "reports/envelope.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

constexpr int kFoundErrors = 1;  // exit code

struct Options {
  std::string json;
  double seconds = 10;
  bool print_libraries = false;  // be the child that may crash
};

const char* json_word(Severity severity) {
  static const std::map<Severity, const char*> kWords{{Severity::kOk, "ok"},
                                                      {Severity::kNote, "note"},
                                                      {Severity::kWarning, "warning"},
                                                      {Severity::kError, "error"}};
  return kWords.at(severity);
}

const char* table_word(Severity severity) {
  static const std::map<Severity, const char*> kWords{{Severity::kOk, "OK  "},
                                                      {Severity::kNote, "NOTE"},
                                                      {Severity::kWarning, "WARN"},
                                                      {Severity::kError, "FAIL"}};
  return kWords.at(severity);
}

std::string group_of(const Finding& finding) { return finding.id.substr(0, finding.id.find('.')); }

Examined examine(double seconds) {
  Examined seen;
  seen.join(examine_gpus(seconds));
  seen.join(examine_libraries(seconds, !seen.facts["gpus"].empty()));
  seen.join(examine_variables(own_variables()));
  seen.join(examine_mpi(seconds, environment().mpi));
  seen.join(examine_host());
  return seen;
}

int count(const Examined& seen, Severity severity) {
  int found = 0;
  for (const Finding& finding : seen.findings)
    found += finding.severity == severity ? 1 : 0;
  return found;
}

std::string verdict(const Examined& seen) {
  const auto many = [](int n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  const int errors = count(seen, Severity::kError), warnings = count(seen, Severity::kWarning);
  const std::string where = seen.facts["gpus"].empty() ? "on the CPU" : "on its GPUs";
  std::string text = many(errors, "error") + ", " + many(warnings, "warning") + ", " +
                     many(count(seen, Severity::kNote), "note") + ": ";
  if (errors > 0)
    return text + "this machine is not ready; mend what says FAIL first";
  if (warnings > 0)
    return text + "this machine can verify " + where +
           "; what says WARN makes measurements, or some cases, unreliable";
  return text + "this machine can verify and measure " + where;
}

void print(std::ostream& stream, const Examined& seen) {
  static const std::map<std::string, const char*> kTitles{
      {"gpu", "GPUs"}, {"link", "Between GPUs"}, {"library", "Libraries"},
      {"mpi", "MPI"},  {"host", "Host"},         {"variable", "Environment variables"}};
  size_t width = 0;
  for (const Finding& finding : seen.findings)
    width = std::max(width, finding.what.size());
  std::string group;
  for (const Finding& finding : seen.findings) {
    if (group_of(finding) != group) {
      stream << (group.empty() ? "" : "\n") << kTitles.at(group_of(finding)) << "\n";
      group = group_of(finding);
    }
    stream << "  " << table_word(finding.severity) << "  " << finding.what
           << std::string(width - finding.what.size() + 2, ' ') << finding.value << "\n";
    if (!finding.fix.empty())
      stream << std::string(width + 10, ' ') << "fix: " << finding.fix << "\n";
  }
  stream << "\n" << verdict(seen) << std::endl;
}

// What other programs print need not be UTF-8.
std::string json_text(const Examined& seen) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Finding& finding : seen.findings)
    findings.push_back({{"id", finding.id},
                        {"severity", json_word(finding.severity)},
                        {"what", finding.what},
                        {"value", finding.value},
                        {"fix", finding.fix}});
  reports::Environment here = environment();
  here.command = "ringcheck doctor";
  return reports::file_text(reports::envelope(reports::Kind::kDoctor, here,
                                              {{"machine", seen.facts}, {"findings", findings}}));
}

int run(const Options& options) {
  if (options.print_libraries) {
    print_libraries();
    return 0;
  }
  if (std::isnan(options.seconds))  // lies in every range of CLI11
    throw UsageError("--deadline nan: it must be from 0.1 to 600 seconds");
  if (!options.json.empty())
    reports::check_writable(options.json);
  const Examined seen = examine(options.seconds);
  print(reports::screen_beside(options.json), seen);
  if (!options.json.empty())
    reports::write_file(options.json, json_text(seen));
  return count(seen, Severity::kError) > 0 ? kFoundErrors : 0;
}

const Subcommands::Add add("doctor", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("says whether this machine can verify and measure, and what helps");
  program.add_option("--json", options->json, "also as JSON into this file; - is stdout")
      ->check(not_empty())
      ->type_name("FILE");
  program.add_option("--deadline", options->seconds, "seconds for each external program")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  program.add_flag("--print-libraries", options->print_libraries)->group("");
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
