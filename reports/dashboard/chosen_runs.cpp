// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/dashboard/chosen_runs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>
#include <tuple>

#include "reports/dashboard/compact.h"
#include "reports/history/json_column.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

constexpr const char* kCounts[] = {"cases",   "passed",       "failed", "not_supported", "skipped",
                                   "inconclusive", "hang", "crash",  "tensors",       "unjudged"};

// Those that occurred.
struct Machines {
  const Database& database;
  std::map<std::string, size_t> numbers;
  json list = json::array();
  size_t number_of(const std::string& machine, const std::string& run) {
    const auto [found, is_new] = numbers.try_emplace(machine, numbers.size());
    if (is_new) list.push_back(texts_in(database, machine, "the machine of run " + run));
    return found->second;
  }
};

}  // namespace

ChosenRuns choose_runs(Database& database, int64_t last, json& page) {
  ChosenRuns chosen;
  chosen.all = std::stoll(database.value("SELECT count(*) FROM runs"));
  Statement rows(database,
                 "SELECT * FROM (SELECT run, id, kind, started, commit_id, branch, machine, host, command, "
                 "version, wall_seconds, cases, passed, failed, not_supported, skipped, inconclusive, "
                 "hang, crash, tensors, unjudged, "
                 "EXISTS (SELECT 1 FROM verdicts WHERE verdicts.run = runs.run) FROM runs ORDER BY started DESC, run DESC LIMIT ?) "
                 "ORDER BY started, run");
  rows.with(last == 0 ? int64_t{-1} : last);
  Machines machines{database, {}};
  json runs = json::array();
  while (rows.step()) {
    const size_t machine = machines.number_of(rows.text(6), rows.text(1));
    json run{{"id", rows.text(1)},      {"kind", rows.text(2)},   {"started", rows.text(3)},
             {"commit", rows.text(4)},  {"branch", rows.text(5)}, {"machine", machine},
             {"host", rows.text(7)},    {"command", rows.text(8)}, {"version", rows.text(9)}};
    if (!rows.is_null(10)) run["seconds"] = rows.real(10);
    for (int i = 0; i < static_cast<int>(std::size(kCounts)); ++i) run[kCounts[i]] = rows.integer(11 + i);
    chosen.at[rows.integer(0)] = chosen.rows.size();
    chosen.rows.push_back({rows.integer(0), rows.text(1), rows.text(2), machine, rows.text(5),
                           rows.integer(21) == 1});
    runs.push_back(std::move(run));
  }
  const auto numbers = std::views::keys(chosen.at);
  chosen.stretches = stretches_of(std::vector<int64_t>(numbers.begin(), numbers.end()));
  page["machines"] = std::move(machines.list);
  page["runs"] = std::move(runs);
  page["all_runs"] = chosen.all;
  return chosen;
}

std::vector<size_t> ChosenRuns::newest_of_each(bool (*wanted)(const Row&)) const {
  std::set<std::tuple<size_t, std::string, std::string>> seen;
  std::vector<size_t> newest;
  for (size_t i = rows.size(); i-- > 0;)
    if (wanted(rows[i]) && seen.insert({rows[i].machine, rows[i].branch, rows[i].kind}).second)
      newest.push_back(i);
  return newest;
}

}  // namespace ringcheck::reports
