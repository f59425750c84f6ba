// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/result.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace ringcheck::reports {
namespace {

constexpr std::array<std::pair<Verdict, const char*>, 9> kVerdicts{{
    {Verdict::kPass, "pass"},
    {Verdict::kFail, "fail"},
    {Verdict::kNotSupported, "not_supported"},
    {Verdict::kSkipped, "skipped"},
    {Verdict::kInconclusive, "inconclusive"},
    {Verdict::kHang, "hang"},
    {Verdict::kCrash, "crash"},
    {Verdict::kNotApplicable, "not_applicable"},
    {Verdict::kNotCalibrated, "not_calibrated"},
}};

}  // namespace

std::string to_text(Verdict verdict) {
  for (const auto& [known, text] : kVerdicts)
    if (known == verdict)
      return text;
  throw std::logic_error("a verdict without a name");
}

Verdict parse_verdict(const std::string& text) {
  for (const auto& [verdict, known] : kVerdicts)
    if (text == known)
      return verdict;
  throw std::invalid_argument("unknown verdict '" + text + "'");
}

Summary summary_of(const std::vector<CaseResult>& cases) {
  Summary sum;
  for (const CaseResult& test : cases) {
    ++sum.cases;
    switch (test.verdict) {
      case Verdict::kPass:
        ++sum.passed;
        break;
      case Verdict::kFail:
        ++sum.failed;
        break;
      case Verdict::kNotSupported:
        ++sum.not_supported;
        break;
      case Verdict::kSkipped:
        ++sum.skipped;
        break;
      case Verdict::kHang:
        ++sum.hang;
        break;
      case Verdict::kCrash:
        ++sum.crash;
        break;
      case Verdict::kInconclusive:
      case Verdict::kNotApplicable:
      case Verdict::kNotCalibrated:
        ++sum.inconclusive;
        break;
    }
  }
  return sum;
}

bool only_contract(const CaseResult& test) {
  bool contract = false;
  for (const OracleResult& oracle : test.oracles) {
    if (oracle.verdict != Verdict::kFail)
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
    return test.verdict == Verdict::kFail && !only_contract(test);
  };
  if (sum.hang + sum.crash > 0)
    return 5;
  if (std::any_of(cases.begin(), cases.end(), wrong))
    return 1;
  if (sum.failed > 0)
    return 4;
  if (sum.passed + sum.inconclusive == 0)
    return 77;
  return sum.inconclusive + sum.skipped > 0 ? 6 : 0;
}

}  // namespace ringcheck::reports
