// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/result.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "reports/exit_codes.h"

namespace ringcheck::reports {
namespace {

constexpr std::array<std::pair<Status, const char*>, 9> kStatuses{{
    {Status::kPass, "pass"},
    {Status::kFail, "fail"},
    {Status::kNotSupported, "not_supported"},
    {Status::kSkipped, "skipped"},
    {Status::kInconclusive, "inconclusive"},
    {Status::kHang, "hang"},
    {Status::kCrash, "crash"},
    {Status::kNotApplicable, "not_applicable"},
    {Status::kNotCalibrated, "not_calibrated"},
}};

}  // namespace

std::string to_text(Status verdict) {
  for (const auto& [known, text] : kStatuses)
    if (known == verdict)
      return text;
  throw std::logic_error("a verdict without a name");
}

Status parse_status(const std::string& text) {
  for (const auto& [verdict, known] : kStatuses)
    if (text == known)
      return verdict;
  throw std::invalid_argument("unknown verdict '" + text + "'");
}

Judged judged_in(const std::vector<CaseResult>& cases) {
  Judged sum;
  for (const CaseResult& test : cases)
    for (const auto& [tensor, ranks] : test.judged)
      for (const std::string& by : ranks) {
        if (by == "no_token") continue;
        ++sum.all;
        if (by != "nobody") continue;
        ++sum.nobody;
        ++sum.nobody_by_tensor[tensor];
      }
  return sum;
}

Summary summary_of(const std::vector<CaseResult>& cases) {
  Summary sum;
  for (const CaseResult& test : cases) {
    ++sum.cases;
    switch (test.verdict) {
      case Status::kPass:
        ++sum.passed;
        break;
      case Status::kFail:
        ++sum.failed;
        break;
      case Status::kNotSupported:
        ++sum.not_supported;
        break;
      case Status::kSkipped:
        ++sum.skipped;
        break;
      case Status::kHang:
        ++sum.hang;
        break;
      case Status::kCrash:
        ++sum.crash;
        break;
      case Status::kInconclusive:
      case Status::kNotApplicable:
      case Status::kNotCalibrated:
        ++sum.inconclusive;
        break;
    }
  }
  return sum;
}

bool only_contract(const CaseResult& test) {
  bool contract = false;
  for (const OracleResult& oracle : test.oracles) {
    if (oracle.verdict != Status::kFail)
      continue;
    if (!oracle.contract)
      return false;
    contract = true;
  }
  return contract;
}

int exit_code(const std::vector<CaseResult>& cases) {
  const Summary sum = summary_of(cases);
  const auto wrong = [](const CaseResult& test) {
    return test.verdict == Status::kFail && !only_contract(test);
  };
  if (sum.hang + sum.crash > 0)
    return exit_codes::kDead;
  if (std::any_of(cases.begin(), cases.end(), wrong))
    return exit_codes::kWrong;
  if (sum.failed > 0)
    return exit_codes::kContract;
  if (sum.passed + sum.inconclusive == 0)
    return exit_codes::kNothingRan;
  return sum.inconclusive + sum.skipped > 0 ? exit_codes::kInconclusive : 0;
}

}  // namespace ringcheck::reports
