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

std::string to_text(JudgedBy judged_by) {
  switch (judged_by) {
    case JudgedBy::kNoToken: return "no_token";
    case JudgedBy::kNobody: return "nobody";
    case JudgedBy::kExact: return "exact";
    case JudgedBy::kBounded: return "bounded";
  }
  return "unknown";
}

Status overall(const std::vector<OracleVerdict>& oracles) {
  const auto any = [&](Status status) {
    return std::any_of(oracles.begin(), oracles.end(),
                       [&](const OracleVerdict& oracle) { return oracle.status == status; });
  };
  if (any(Status::kFail)) return Status::kFail;
  // A relation that shows nothing takes nothing from what others show.
  const bool vacuous = std::any_of(oracles.begin(), oracles.end(), [](const OracleVerdict& oracle) {
    return oracle.status == Status::kInconclusive && oracle.about != About::kRelation;
  });
  if (vacuous) return Status::kInconclusive;
  const bool shown = std::any_of(oracles.begin(), oracles.end(), [](const OracleVerdict& oracle) {
    return oracle.status == Status::kPass && oracle.about != About::kForm;
  });
  return shown ? Status::kPass : Status::kInconclusive;
}

std::map<std::string, std::vector<JudgedBy>> judged_of(const std::vector<OracleVerdict>& oracles,
                                                       int world) {
  std::map<std::string, std::vector<JudgedBy>> judged;
  for (const char* name : {"o", "lse", "dq", "dk", "dv"})
    judged[name].assign(static_cast<size_t>(world), JudgedBy::kNoToken);
  for (auto& [name, ranks] : judged) {
    bool asked = false;
    for (const OracleVerdict& oracle : oracles)
      for (const TensorVerdict& tensor : oracle.tensors) {
        if (oracle.about != About::kValues || tensor.tensor != name) continue;
        if (tensor.judged_by.size() != ranks.size()) continue;
        asked = true;
        for (size_t rank = 0; rank < ranks.size(); ++rank)
          ranks[rank] = std::max(ranks[rank], tensor.judged_by[rank]);
      }
    if (!asked) ranks.assign(ranks.size(), JudgedBy::kNobody);
  }
  return judged;
}

}  // namespace ringcheck::parity
