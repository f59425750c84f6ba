// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/dashboard/chosen_runs.h"
#include "reports/dashboard/parts_table.h"

namespace ringcheck::reports {

// Every series of measurements, and of each what it was on one machine and branch, with its levels.
void add_trends(Database& database, const ChosenRuns& runs, PartsTable& parts,
                nlohmann::json& page);

}  // namespace ringcheck::reports
