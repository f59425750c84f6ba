// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/record.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/environment.h"
#include "reports/envelope.h"
#include "reports/file.h"

namespace ringcheck::search {
namespace {

nlohmann::json json_of(const parity::Verdict& verdict) {
  nlohmann::json findings = nlohmann::json::array();
  for (const parity::OracleVerdict& oracle : verdict.oracles)
    for (const std::string& finding : oracle.findings)
      findings.push_back(oracle.name + ": " + finding);
  return {{"case", parity::to_text(verdict.test)},
          {"parts", parity::to_json(verdict.test)},
          {"verdict", parity::to_text(verdict.status)},
          {"reason", verdict.reason},
          {"findings", findings},
          {"command", reproduce_command(verdict.test)}};
}

nlohmann::json json_of(const Failure& failure) {
  return {{"found_by", failure.found_by},
          {"original", json_of(failure.original)},
          {"minimal", json_of(failure.minimal)},
          {"shrinking", {{"candidates", failure.candidates}, {"complete", failure.complete}}},
          {"class", to_text(failure.recurrence)},
          {"runs_again", failure.recurrence.runs},
          {"failed_again", failure.recurrence.failed}};
}

}  // namespace

std::string reproduce_command(const parity::Case& test) {
  return "ringcheck verify --case '" + parity::to_text(test) + "'";
}

std::string findings_text(const parity::Verdict& verdict) {
  std::string text = parity::to_text(verdict.status);
  if (!verdict.reason.empty())
    text += ": " + verdict.reason;
  for (const parity::OracleVerdict& oracle : verdict.oracles)
    for (const std::string& finding : oracle.findings)
      text += "\n    " + oracle.name + ": " + finding;
  return text;
}

Record::Record(std::string path, uint64_t seed, std::string subject)
    : path_(std::move(path)),
      subject_(std::move(subject)),
      seed_(seed),
      environment_(cli::environment()) {
  environment_.command = "ringcheck_search";
  if (!path_.empty())
    reports::check_writable(path_);
}

Record::~Record() {
  if (!path_.empty() && running_ && !failure_)
    std::remove(path_.c_str());
}

void Record::running(const parity::Case& test) {
  running_ = test;
  write();
}

void Record::failed(const Failure& failure) {
  failure_ = failure;
  write();
}

void Record::write() const {
  if (path_.empty())
    return;
  nlohmann::json own{{"subject", subject_}, {"seed", seed_}};
  if (failure_)
    own["failure"] = json_of(*failure_);
  if (running_)
    own["running"] = {{"case", parity::to_text(*running_)},
                      {"command", reproduce_command(*running_)}};
  reports::write_json(path_, reports::envelope(reports::Kind::kSearch, environment_, own));
}

}  // namespace ringcheck::search
