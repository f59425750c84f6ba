// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>

#include "reports/dashboard/chosen_runs.h"
#include "reports/dashboard/parts_table.h"
#include "reports/history/history.h"

namespace ringcheck::reports {

// What `read` makes of the file of a run; null where it is not as its kind should be, which the page
// then says.
nlohmann::json read_file(History& history, const ChosenRuns::Row& row, nlohmann::json& page,
                         const std::function<nlohmann::json(const nlohmann::json&)>& read);

// To the rows of cases that have ranks the events of these, of as many cases as there is room for, what
// did not pass first: what each rank did in its forward and in its backward pass, in nanoseconds.
void add_case_events(const nlohmann::json& tests, size_t room, nlohmann::json& rows);

// What only whole results hold, of the newest run of each machine and branch: of their cases the
// tensors and the ranks; what planted bugs were seen; and limits of detection.
void add_case_details(History& history, const ChosenRuns& runs, CaseTable& cases,
                      nlohmann::json& page);
void add_kill_matrices(History& history, const ChosenRuns& runs, nlohmann::json& page);
void add_detection_limits(History& history, const ChosenRuns& runs, nlohmann::json& page);

}  // namespace ringcheck::reports
