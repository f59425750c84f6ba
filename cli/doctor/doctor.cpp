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
#include <optional>

#include "cli/arguments.h"
#include "cli/doctor/doctor_gpus.h"
#include "cli/doctor/doctor_host.h"
#include "cli/doctor/doctor_libraries.h"
#include "cli/doctor/doctor_mpi.h"
#include "cli/doctor/doctor_variables.h"
#include "cli/environment.h"
#include "cli/screen.h"
#include "cli/doctor/finding.h"
#include "cli/process/folder.h"
#include "cli/subcommand.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

constexpr int kFoundErrors = 1;  // exit code
constexpr size_t kFix = 8;       // columns before it: far to the left, so that commands stay whole

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

std::string table_word(Severity severity, const reports::Paint& paint) {
  using reports::Tone;
  static const std::map<Severity, std::pair<Tone, const char*>> kWords{
      {Severity::kOk, {Tone::kGood, "OK  "}},
      {Severity::kNote, {Tone::kPlain, "NOTE"}},
      {Severity::kWarning, {Tone::kOpen, "WARN"}},
      {Severity::kError, {Tone::kBad, "FAIL"}}};
  const auto& [tone, word] = kWords.at(severity);
  return tone == Tone::kPlain ? word : paint(tone, word);
}

std::string group_of(const Finding& finding) { return finding.id.substr(0, finding.id.find('.')); }

// Of verify, what this machine does in minutes: ci/gate.sh runs it.
std::vector<std::string> fitting_arguments(bool has_gpus) {
  if (has_gpus) return {"--profile", "conformance", "--device", "cuda"};
  return {"--profile", "smoke"};
}

// What programs print goes there.
std::optional<Finding> no_temporary_files() try {
  const TemporaryFolder removed_again;
  return std::nullopt;
} catch (const UsageError& error) {
  const std::string text = error.what();
  const size_t end = text.find("; ");
  return Finding{"host.temporary", Severity::kError, "temporary files",
                 text.substr(0, end) + ": no program was asked, neither for GPUs nor for MPI", text.substr(end + 2)};
}

Examined examine(double seconds) {
  Examined seen;
  if (const auto none = no_temporary_files()) {
    seen = examine_host();
    seen.add(*none);
    seen.facts["gpus"] = nlohmann::json::array();
    seen.facts["verify"] = fitting_arguments(false);
    return seen;
  }
  seen.join(examine_gpus(seconds));
  seen.join(examine_libraries(seconds, !seen.facts["gpus"].empty()));
  seen.join(examine_variables(own_variables()));
  seen.join(examine_mpi(seconds, environment().mpi));
  seen.join(examine_host());
  seen.facts["verify"] = fitting_arguments(!seen.facts["gpus"].empty());
  return seen;
}

int count(const Examined& seen, Severity severity) {
  int found = 0;
  for (const Finding& finding : seen.findings)
    found += finding.severity == severity ? 1 : 0;
  return found;
}

// The worst there is, and what it comes to.
std::string verdict(const Examined& seen, const reports::Paint& paint) {
  const auto many = [](int n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  const int errors = count(seen, Severity::kError), warnings = count(seen, Severity::kWarning);
  const std::string where = seen.facts["gpus"].empty() ? "on the CPU" : "on its GPUs";
  const std::string found = many(errors, "error") + ", " + many(warnings, "warning") + ", " +
                            many(count(seen, Severity::kNote), "note") + ": ";
  const auto text = [&](Severity severity, const std::string& comes_to) {
    return table_word(severity, paint) + "  " + reports::wrapped(found + comes_to, 6, 6) + "\n";
  };
  if (errors > 0)
    return text(Severity::kError, "this machine is not ready; mend what says FAIL first");
  if (warnings > 0)
    return text(Severity::kWarning, "this machine can verify " + where + "; what says WARN makes "
                                    "measurements, or some cases, unreliable");
  return text(Severity::kOk, "this machine can verify and measure " + where);
}

void print(std::ostream& stream, const Examined& seen) {
  static const std::map<std::string, const char*> kTitles{
      {"gpu", "GPUs"}, {"link", "Between GPUs"}, {"library", "Libraries"},
      {"mpi", "MPI"},  {"host", "Host"},         {"variable", "Environment variables"}};
  size_t width = 0;
  for (const Finding& finding : seen.findings)
    width = std::max(width, finding.what.size());
  const size_t indent = width + 10;
  const reports::Paint paint = paint_on(stream);
  stream << verdict(seen, paint);
  std::string group;
  for (const Finding& finding : seen.findings) {
    if (group_of(finding) != group) {
      stream << "\n" << kTitles.at(group_of(finding)) << "\n";
      group = group_of(finding);
    }
    stream << "  " << table_word(finding.severity, paint) << "  "
           << reports::left(finding.what, width + 2)
           << reports::wrapped(finding.value, indent, indent) << "\n";
    if (!finding.fix.empty())
      stream << std::string(kFix, ' ') << reports::wrapped("fix: " + finding.fix, kFix + 5, kFix)
             << "\n";
  }
  stream << std::flush;
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
      ->check(between(0.1, 600))
      ->capture_default_str();
  program.add_flag("--print-libraries", options->print_libraries)->group("");
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
