// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/trend.h"

#include <nlohmann/json.hpp>

#include "reports/machine.h"

namespace ringcheck::reports {

std::vector<TrendPoint> trend(Database& database, const Measurement& series,
                              const Environment& machine, const std::set<std::string>& without) {
  Statement rows(database,
                 "SELECT id, started, commit_id, branch, median FROM series "
                 "CROSS JOIN points USING (series) CROSS JOIN runs USING (run) "
                 "WHERE name = ? AND parts = ? AND unit = ? AND better = ? AND machine = ? "
                 "AND median IS NOT NULL ORDER BY started, run");
  rows.with(series.name, nlohmann::json(series.parts).dump(), series.unit, series.better,
            nlohmann::json(machine_of(machine)).dump());
  std::vector<TrendPoint> points;
  while (rows.step())
    if (!without.contains(rows.text(0)))
      points.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.real(4)});
  return points;
}

}  // namespace ringcheck::reports
