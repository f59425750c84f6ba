// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/dashboard/trends.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "reports/dashboard/compact.h"
#include "reports/dashboard/levels.h"
#include "reports/history/json_column.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

// On a page of runs that do not differ, at most this share shows a change anywhere.
constexpr double kAlpha = 0.05;

struct Point {
  size_t run;
  double median;
  std::optional<double> keep_to;
};
using Key = std::tuple<int64_t, size_t, std::string>;  // series, machine, branch
using Trends = std::map<Key, std::vector<Point>>;

Trends trends_of(Database& database, const ChosenRuns& runs) {
  Statement rows(database,
                 "SELECT series, run, median, keep_to FROM series CROSS JOIN points USING (series) "
                 "WHERE run BETWEEN ? AND ? AND median IS NOT NULL");
  Trends trends;
  for (const auto& [first, last] : runs.stretches) {
    rows.with(first, last);
    while (rows.step()) {
      const size_t at = runs.at.at(rows.integer(1));
      const ChosenRuns::Row& row = runs.rows[at];
      trends[{rows.integer(0), row.machine, row.branch}].push_back(
          {at, rows.real(2),
           rows.is_null(3) ? std::nullopt : std::optional<double>(rows.real(3))});
    }
  }
  for (auto& [key, points] : trends)
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.run < b.run; });
  return trends;
}

json levels_json(const std::vector<double>& values, double alpha) {
  json levels = json::array();
  for (const Level& level : levels_of(values, alpha))
    levels.push_back({level.begin, level.end, rounded(level.low), rounded(level.middle), rounded(level.high)});
  return levels;
}

// Runs, values, levels, limit.
json trend_json(const std::vector<Point>& points, double alpha) {
  std::vector<size_t> runs;
  std::vector<double> values;
  json shown = json::array();
  for (const Point& point : points) {
    runs.push_back(point.run);
    values.push_back(point.median);
    shown.push_back(rounded(point.median));
  }
  json levels = values.size() < kShortest ? json() : levels_json(values, alpha);
  const auto& keep_to = points.back().keep_to;
  return {ranges(runs), std::move(shown), std::move(levels), keep_to ? rounded(*keep_to) : json()};
}

// Those that occur, by their number in the table.
std::map<int64_t, size_t> add_series(Database& database, const Trends& trends, PartsTable& parts,
                                     json& page) {
  Statement row(database, "SELECT name, parts, unit, better FROM series WHERE series = ?");
  std::map<int64_t, size_t> at;
  json list = json::array();
  for (const auto& [key, points] : trends) {
    const int64_t series = std::get<0>(key);
    if (!at.try_emplace(series, at.size()).second) continue;
    row.with(series).step();
    const json texts = texts_in(database, row.text(1), "measurement " + row.text(0));
    list.push_back({row.text(0), row.text(2), row.text(3), parts.row_of(texts)});
  }
  page["series"] = std::move(list);
  return at;
}

}  // namespace

void add_trends(Database& database, const ChosenRuns& runs, PartsTable& parts, json& page) {
  const Trends trends = trends_of(database, runs);
  const auto series = add_series(database, trends, parts, page);
  const auto tests = std::count_if(trends.begin(), trends.end(), [](const auto& trend) {
    return trend.second.size() >= 2 * kShortest;
  });
  const double alpha = kAlpha / static_cast<double>(std::max<ptrdiff_t>(1, tests));
  json list = json::array();
  for (const auto& [key, points] : trends)
    list.push_back({series.at(std::get<0>(key)), std::get<1>(key), std::get<2>(key), trend_json(points, alpha)});
  page["trends"] = std::move(list);
  page["alpha"] = kAlpha;
}

}  // namespace ringcheck::reports
