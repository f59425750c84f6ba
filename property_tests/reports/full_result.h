// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

CaseResult case_of(Status verdict);
CaseResult failed(bool contract);  // by the oracle `counters`
Result result_of(std::vector<CaseResult> cases);

// A result with every member filled, with figures that JSON cannot hold.
Result full_result();

}  // namespace ringcheck::reports
