// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/verdict.h"

#include <algorithm>

namespace ringcheck::parity {

std::string to_text(Status status) {
  switch (status) {
    case Status::kPass: return "pass";
    case Status::kFail: return "fail";
    case Status::kNotSupported: return "not_supported";
    case Status::kSkipped: return "skipped";
    case Status::kInconclusive: return "inconclusive";
    case Status::kHang: return "hang";
    case Status::kCrash: return "crash";
    case Status::kNotApplicable: return "not_applicable";
    case Status::kNotCalibrated: return "not_calibrated";
  }
  return "unknown";
}

Status overall(const std::vector<OracleVerdict>& oracles) {
  const auto any = [&](Status status) {
    return std::any_of(oracles.begin(), oracles.end(),
                       [&](const OracleVerdict& oracle) { return oracle.status == status; });
  };
  if (any(Status::kFail)) return Status::kFail;
  if (any(Status::kInconclusive)) return Status::kInconclusive;
  return any(Status::kPass) ? Status::kPass : Status::kInconclusive;
}

}  // namespace ringcheck::parity
