// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/dashboard/chosen_runs.h"
#include "reports/dashboard/parts_table.h"

namespace ringcheck::reports {

// Which cases each run had, which of them did not pass, and how errors lay under their bounds.
void add_verdicts(Database& database, const ChosenRuns& runs, CaseTable& cases,
                  nlohmann::json& page);

}  // namespace ringcheck::reports
