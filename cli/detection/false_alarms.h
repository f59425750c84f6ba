// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

#include "reports/result.h"

namespace ringcheck::cli {

// Random cases without a bug that were judged, and how many were found wrong. A case that shows
// nothing is not counted.
struct FalseAlarms {
  int64_t judged = 0, alarms = 0;
};

FalseAlarms false_alarms_in(const reports::Summary& summary);
// Of a result of `ringcheck verify --clean`, or of a summary of it. Throws
// nlohmann::json::exception where it is none.
FalseAlarms false_alarms_in(const nlohmann::json& result);

// "0 of 8 clean cases; with 95 % confidence the rate is below 3/8 = 0.375": the bound where there
// was no alarm.
std::string to_text(const FalseAlarms& alarms);

}  // namespace ringcheck::cli
