// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "reports/dashboard/chosen_runs.h"
#include "reports/dashboard/dashboard.h"
#include "reports/dashboard/details.h"
#include "reports/dashboard/parts_table.h"
#include "reports/dashboard/trends.h"
#include "reports/dashboard/verdicts.h"

namespace ringcheck::reports {

using nlohmann::json;

json read_file(History& history, const ChosenRuns::Row& row, json& page,
               const std::function<json(const json&)>& read) try {
  return read(history.file(row.id));
} catch (const json::exception&) {
  page["unreadable"].push_back(row.id);
  return nullptr;
}

json dashboard_data(History& history, int64_t last) {
  json page{{"unreadable", json::array()}};
  const ChosenRuns runs = choose_runs(history.database(), last, page);
  PartsTable parts;
  CaseTable cases(parts);
  add_trends(history.database(), runs, parts, page);
  add_case_details(history, runs, cases, page);
  add_verdicts(history.database(), runs, cases, page);
  add_kill_matrices(history, runs, page);
  add_detection_limits(history, runs, page);
  page["cases"] = cases.rows();
  parts.put_into(page);
  return page;
}

}  // namespace ringcheck::reports
