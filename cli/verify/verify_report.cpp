// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/verify_report.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/environment.h"
#include "cli/detection/false_alarms.h"
#include "cli/verify/oracles.h"
#include "cli/verify/sample.h"
#include "cli/subcommand.h"
#include "cp/device/cuda_library.h"
#include "parity/case/text.h"
#include "reports/console.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/junit.h"

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
  return reports::screen_beside(telling_.junit == "-" ? telling_.junit : telling_.json);
}

void VerifyReport::begin() const {
  screen() << reports::console_header(result_.environment, selection_.what) << std::flush;
}

void VerifyReport::line(const reports::CaseResult& test) const {
  if (telling_.verbose) screen() << reports::console_line(test) << std::flush;
}

int VerifyReport::end(std::vector<reports::CaseResult> cases) {
  complete(std::move(cases));
  print();
  write();
  const int code = exit_code();
  if (code == exit_codes::kUsage)
    std::cerr << "ringcheck: not supported: " << result_.cases.front().reason << "\n";
  return code;
}

void VerifyReport::complete(std::vector<reports::CaseResult> cases) {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin_;
  result_.environment.wall_seconds = wall.count();
  result_.cases = std::move(cases);
  for (reports::CaseResult& test : result_.cases) {
    note_sample(telling_.sample, test);
    if (!telling_.oracles.empty()) test.reproduce += " --oracles " + telling_.oracles;
    if (telling_.deadline)
      test.reproduce += " --deadline " + parity::number_text(*telling_.deadline);
  }
  result_.summary = reports::summary_of(result_.cases);
}

void VerifyReport::print() const {
  if (telling_.verbose) screen() << "\n";
  screen() << reports::console_report(result_);
  if (telling_.clean)
    screen() << "false alarms: " << to_text(false_alarms_in(result_.summary)) << "\n";
  for (const auto& [oracle, reason] : idle())
    screen() << "oracle " << oracle << " applied to no case: " << reason << "\n";
  if (telling_.sample > 0) screen() << sampled_text(telling_.sample, result_.cases);
  screen() << std::flush;
}

void VerifyReport::write() const {
  if (!telling_.json.empty())
    reports::write_json(telling_.json, reports::to_json(result_));
  if (!telling_.junit.empty()) reports::write_file(telling_.junit, reports::junit(result_));
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

// A single case that cannot run was asked for by mistake.
int VerifyReport::exit_code() const {
  if (selection_.single && result_.summary.not_supported == 1) return exit_codes::kUsage;
  std::vector<reports::CaseResult> cases = result_.cases;
  if (telling_.clean)
    std::erase_if(cases, [](const reports::CaseResult& test) {
      return test.verdict == reports::Status::kInconclusive;
    });
  const int code = reports::exit_code(cases);
  return code == 0 && !idle().empty() ? exit_codes::kInconclusive : code;
}

}  // namespace ringcheck::cli
