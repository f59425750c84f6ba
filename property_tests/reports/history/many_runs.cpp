// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/reports/history/many_runs.h"

#include "property_tests/reports/full_result.h"

namespace ringcheck::reports {

namespace {

std::string two_digits(int n) { return (n < 10 ? "0" : "") + std::to_string(n); }

std::string time_of(int second) {
  return "2026-01-" + two_digits(1 + second / 86400 % 28) + "T" + two_digits(second / 3600 % 24) + ":" +
         two_digits(second / 60 % 60) + ":" + two_digits(second % 60) + "Z";
}

}  // namespace

Result numbered_result(int number, int measurements, int cases) {
  std::vector<CaseResult> tests;
  for (int i = 0; i < cases; ++i) {
    CaseResult test = case_of(Status::kPass);
    test.name = "case " + std::to_string(i);
    test.judged = {{"o", {"bounded"}}};
    tests.push_back(test);
  }
  Result result = result_of(tests);
  result.environment.started = time_of(number);
  result.environment.commit = std::to_string(number);
  for (int i = 0; i < measurements; ++i) {
    Measurement one{"time", {{"of", std::to_string(i)}}, "s", {}, "smaller", {}};
    for (int sample = 0; sample < 10; ++sample)
      one.samples.emplace_back(1 + 0.001 * ((number * 31 + i * 17 + sample * 7) % 97));
    result.measurements.push_back(one);
  }
  return result;
}

}  // namespace ringcheck::reports
