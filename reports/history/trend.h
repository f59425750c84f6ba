// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reports/history/database.h"
#include "reports/result.h"

namespace ringcheck::reports {

// One run of a series.
struct TrendPoint {
  std::string id, started, commit, branch;
  double median;
};

// What a series was on the machine of this environment, oldest run first, without some runs.
std::vector<TrendPoint> trend(Database& database, const Measurement& series,
                              const Environment& machine, const std::set<std::string>& without = {});

}  // namespace ringcheck::reports
