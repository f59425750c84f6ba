// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/verify_report.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/environment.h"
#include "cli/screen.h"
#include "cli/detection/false_alarms.h"
#include "cli/verify/oracles.h"
#include "cli/verify/sample.h"
#include "cli/transport.h"
#include "cli/subcommand.h"
#include "cli/to_result.h"
#include "cp/device/cuda_library.h"
#include "parity/case/text.h"
#include "reports/screen/console.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/formats/junit.h"
#include "reports/formats/markdown.h"
#include "reports/text.h"

namespace ringcheck::cli {

VerifyReport::VerifyReport(Telling telling, const Selection& selection, std::string launcher,
                           std::string transport)
    : telling_(std::move(telling)), selection_(selection) {
  result_.environment = environment();
  if (parity::any_on_cuda(selection.cases)) result_.environment.device = describe_gpus();
  result_.environment.launcher = std::move(launcher);
  result_.environment.transport = std::move(transport);
  result_.environment.command = "ringcheck verify: " + selection.what;
}

std::ostream& VerifyReport::screen() const {
  return reports::screen_beside({telling_.json, telling_.junit, telling_.markdown});
}

void VerifyReport::begin() const {
  screen() << reports::console_header(result_.environment, selection_.what, paint_on(screen()))
           << std::flush;
}

void VerifyReport::line(const reports::CaseResult& test) const {
  if (telling_.verbose) screen() << reports::console_line(test, paint_on(screen())) << std::flush;
}

int VerifyReport::end(std::vector<reports::CaseResult> cases) {
  complete(std::move(cases));
  const Ending how = ending();
  print(how);
  write(how);
  if (how.code == exit_codes::kUsage)
    std::cerr << complaint("not supported: " + result_.cases.front().reason);
  return how.code;
}

reports::Result VerifyReport::nothing_ran() const {
  reports::Result result = result_;
  for (const parity::Case& test : selection_.cases)
    result.cases.push_back(noted(to_result(test, reports::Status::kSkipped, "it did not run")));
  result.summary = reports::summary_of(result.cases);
  return result;
}

reports::CaseResult VerifyReport::noted(reports::CaseResult test) const {
  note_sample(telling_.sample, test);
  if (!telling_.oracles.empty()) test.reproduce += " --oracles " + telling_.oracles;
  if (telling_.deadline)
    test.reproduce += " --deadline " + parity::number_text(*telling_.deadline);
  if (!telling_.transport.empty() && has_use_for_transport(test.parts))
    test.reproduce += " --transport " + telling_.transport;
  return test;
}

void VerifyReport::complete(std::vector<reports::CaseResult> cases) {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin_;
  result_.environment.wall_seconds = wall.count();
  for (reports::CaseResult& test : cases) result_.cases.push_back(noted(std::move(test)));
  events_ = reports::keep_events(result_.cases, reports::kMostEvents);
  result_.summary = reports::summary_of(result_.cases);
}

std::vector<std::string> VerifyReport::notes(const Ending& ending) const {
  std::vector<std::string> lines;
  if (telling_.clean) lines.push_back("false alarms: " + to_text(false_alarms_in(result_.summary)));
  for (const auto& [oracle, reason] : ending.idle)
    lines.push_back("oracle " + oracle + " applied to no case: " + reason);
  if (telling_.sample > 0) lines.push_back(sampled_text(telling_.sample, result_.cases));
  if (telling_.timelines) lines.push_back(reports::to_text(events_));
  for (const auto& borne : ending.waived.cases) lines.push_back("waived: " + reports::to_text(borne));
  lines.insert(lines.end(), ending.waived.stale.begin(), ending.waived.stale.end());
  lines.insert(lines.end(), ending.waived.idle.begin(), ending.waived.idle.end());
  return lines;
}

void VerifyReport::print(const Ending& ending) const {
  if (telling_.verbose) screen() << "\n";
  screen() << reports::console_report(result_, ending.code, paint_on(screen()));
  for (const std::string& line : notes(ending)) screen() << reports::wrapped(line, 2) << "\n";
  screen() << std::flush;
}

void VerifyReport::write(const Ending& ending) const {
  if (!telling_.json.empty())
    reports::write_json(telling_.json, reports::to_json(result_));
  if (!telling_.junit.empty()) reports::write_file(telling_.junit, reports::junit(result_, ending.waived));
  if (!telling_.markdown.empty())
    reports::write_file(telling_.markdown, reports::markdown(result_, ending.code, notes(ending)));
}

std::map<std::string, std::string> VerifyReport::idle() const {
  std::map<std::string, std::string> idle;
  if (telling_.oracles.empty() || telling_.oracles == "all") return idle;
  for (const std::string& name : parse_oracles(telling_.oracles)) {
    bool applied = false, asked = false;
    std::string reason;
    for (const reports::CaseResult& test : result_.cases)
      for (const reports::OracleResult& oracle : test.oracles) {
        if (oracle.name != name) continue;
        asked = true;
        applied |= oracle.verdict != reports::Status::kNotApplicable;
        if (!oracle.findings.empty()) reason = oracle.findings.front();
      }
    if (asked && !applied) idle[name] = reason;
  }
  return idle;
}

// A single case that cannot run was asked for by mistake; a clean case that shows nothing is no alarm.
VerifyReport::Ending VerifyReport::ending() const {
  std::vector<reports::CaseResult> cases = result_.cases;
  if (telling_.clean)
    std::erase_if(cases, [](const reports::CaseResult& test) {
      return test.verdict == reports::Status::kInconclusive;
    });
  Ending ending{reports::waive(telling_.waivers, cases), idle()};
  int& code = ending.code = reports::exit_code(cases);
  if (code == exit_codes::kNothingRan && !ending.waived.cases.empty()) code = 0;
  if (!ending.waived.stale.empty() && code != exit_codes::kDead) code = exit_codes::kWrong;
  if (code == 0 && !ending.idle.empty()) code = exit_codes::kInconclusive;
  if (selection_.single && result_.summary.not_supported == 1) code = exit_codes::kUsage;
  return ending;
}

}  // namespace ringcheck::cli
