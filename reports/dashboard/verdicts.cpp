// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/dashboard/verdicts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/dashboard/compact.h"
#include "reports/history/json_column.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

// What a page of 3 MiB has room for, newest first; it says where there is more.
constexpr size_t kCases = 4000, kNotPassed = 4000, kRunsWithErrors = 200;

struct Tables {
  Tables(Database& tables, CaseTable& table)
      : database(tables), verdicts(database, "SELECT case_id, verdict FROM verdicts WHERE run = ?"),
        finding(database, "SELECT finding FROM verdicts WHERE case_id = ? AND run = ?"),
        errors(database, "SELECT margin, worst_z, vacuity FROM verdicts WHERE run = ?"),
        row(database, "SELECT name, parts FROM cases WHERE case_id = ?"),
        cases(table) {}
  size_t number_of(int64_t id) {
    const auto [found, is_new] = numbers.try_emplace(id, 0);
    if (is_new) {
      row.with(id).step();
      found->second = cases.number_of(row.text(0), texts_in(database, row.text(1), "case " + row.text(0)));
    }
    return found->second;
  }

  Database& database;
  Statement verdicts, finding, errors, row;
  CaseTable& cases;
  std::map<int64_t, size_t> numbers;  // of a case in its table
  std::map<std::vector<size_t>, size_t> sets;
  size_t not_passed = 0;
};

// Of one run, as [case, verdict, finding]; its cases are one of the sets of cases.
json verdicts_of(Tables& tables, int64_t run) {
  std::vector<int64_t> ids;
  std::vector<std::pair<int64_t, std::string>> others;
  tables.verdicts.with(run);
  while (tables.verdicts.step()) {
    ids.push_back(tables.verdicts.integer(0));
    if (const std::string verdict = tables.verdicts.text(1); verdict != "pass")
      others.emplace_back(ids.back(), verdict);
  }
  const auto fresh = std::count_if(ids.begin(), ids.end(),
                                   [&](int64_t id) { return !tables.numbers.contains(id); });
  if (tables.cases.size() + static_cast<size_t>(fresh) > kCases ||
      (tables.not_passed += others.size()) > kNotPassed)
    return nullptr;
  std::vector<size_t> numbers;
  for (const int64_t id : ids) numbers.push_back(tables.number_of(id));
  std::sort(numbers.begin(), numbers.end());
  json rows = json::array();
  for (const auto& [id, verdict] : others) {
    tables.finding.with(id, run).step();
    rows.push_back({tables.number_of(id), verdict, tables.finding.text(0)});
  }
  const size_t set = tables.sets.try_emplace(numbers, tables.sets.size()).first->second;
  return {{"set", set}, {"not_passed", std::move(rows)}};
}

// Smallest, quartiles, 95th of a hundred and largest.
json quantiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  json list = json::array();
  for (const double share : {0.0, 0.25, 0.5, 0.75, 0.95, 1.0})
    list.push_back(rounded(values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)]));
  return list;
}

json errors_of(Tables& tables, size_t run, int64_t number) {
  std::vector<double> margins;
  double z = 0, blind = 0;
  tables.errors.with(number);
  while (tables.errors.step()) {
    if (!tables.errors.is_null(0)) margins.push_back(tables.errors.real(0));
    z = std::max(z, tables.errors.real(1));
    blind = std::max(blind, tables.errors.real(2));
  }
  if (margins.empty()) return nullptr;
  return {{"run", run}, {"cases", margins.size()}, {"margin", quantiles(margins)},
          {"z", rounded(z)}, {"blind", rounded(blind)}};
}

}  // namespace

void add_verdicts(Database& database, const ChosenRuns& runs, CaseTable& cases, json& page) {
  Tables tables(database, cases);
  json errors = json::array();
  size_t with_errors = 0;
  for (size_t i = runs.rows.size(); i-- > 0;) {
    if (!runs.rows[i].cases) continue;
    if (json verdicts = verdicts_of(tables, runs.rows[i].number); !verdicts.is_null())
      page["runs"][i]["verdicts"] = std::move(verdicts);
    if (with_errors++ < kRunsWithErrors)
      if (json row = errors_of(tables, i, runs.rows[i].number); !row.is_null())
        errors.insert(errors.begin(), std::move(row));
  }
  json sets(std::vector<json>(tables.sets.size()));
  for (const auto& [numbers, set] : tables.sets) sets[set] = ranges(numbers);
  page["sets"] = std::move(sets);
  page["errors"] = std::move(errors);
}

}  // namespace ringcheck::reports
