// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "reports/history/run.h"

namespace ringcheck::reports {

// The largest error over its bound, and in sigmas, and the largest blind share of what passed, by kernel
// (else subject), dtype and tensor: a series each, so that a page shows them over time. `command` is that of the
// environment: runs of other cases are other series.
std::vector<Run::Point> largest_errors(const std::vector<CaseResult>& cases, const std::string& command);

// The same as a summary of results has it in `largest_of_passed` (ci/bundle/summary.py).
std::vector<Run::Point> largest_errors(const nlohmann::json& largest_of_passed,
                                       const std::string& command);

}  // namespace ringcheck::reports
