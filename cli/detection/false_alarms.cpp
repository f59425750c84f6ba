// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/false_alarms.h"

#include <nlohmann/json.hpp>

#include "cli/read_json.h"
#include "reports/text.h"

namespace ringcheck::cli {

FalseAlarms false_alarms_in(const reports::Summary& summary) {
  return {summary.passed + summary.failed, summary.failed};
}

FalseAlarms false_alarms_in(const nlohmann::json& result) {
  const nlohmann::json& summary = result.at("summary");
  const int64_t passed = count_in(summary.at("passed"), "passed"),
                failed = count_in(summary.at("failed"), "failed");
  return {passed + failed, failed};
}

std::string to_text(const FalseAlarms& alarms) {
  const std::string judged = std::to_string(alarms.judged);
  std::string text = std::to_string(alarms.alarms) + " of " + judged + " clean cases";
  if (alarms.alarms == 0 && alarms.judged > 0)
    text += "; with 95 % confidence the rate is below 3/" + judged + " = " +
            reports::figure(3.0 / static_cast<double>(alarms.judged));
  return text;
}

}  // namespace ringcheck::cli
