// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Of all series of a dashboard together, equal runs show a change at most as often as the page says.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "property_tests/cli/program.h"
#include "property_tests/reports/full_result.h"
#include "reports/dashboard/dashboard.h"
#include "reports/history/history.h"
#include "reports/history/run.h"

namespace ringcheck::reports {
namespace {

constexpr int kRuns = 40, kSeries = 400;

// How many series change, of which the first becomes slower by so much half way.
int64_t changed(double slower) {
  const testing::Folder folder;
  History history(folder.file("history.db"), History::Missing::kCreate);
  std::mt19937 random(15);
  std::normal_distribution<double> noise(1, 0.01);
  std::vector<decltype(run_of(nlohmann::json()))> runs;
  for (int number = 0; number < kRuns; ++number) {
    Result result = result_of({});
    result.environment.started = "2026-01-" + std::to_string(10 + number / 2) + (number % 2 == 0 ? "T00:00:00Z" : "T12:00:00Z");
    for (int i = 0; i < kSeries; ++i)
      result.measurements.push_back({"time", {{"of", std::to_string(i)}}, "s",
                                     {noise(random) * (i == 0 && number >= kRuns / 2 ? slower : 1)}, "smaller", {}});
    runs.push_back(run_of(to_json(result)));
  }
  history.add(runs, "main");
  int64_t count = 0;
  const nlohmann::json page = dashboard_data(history, 0);
  EXPECT_EQ(page.at("trends").size(), static_cast<size_t>(kSeries));
  for (const nlohmann::json& trend : page.at("trends")) count += trend.at(3).at(2).size() > 1 ? 1 : 0;
  return count;
}

// Each by itself would alarm in one of twenty: in twenty of them.
TEST(Trends, OfEqualRunsShowNoChange) { EXPECT_EQ(changed(1), 0); }

TEST(Trends, OfASlowdownShowIt) { EXPECT_EQ(changed(1.1), 1); }

}  // namespace
}  // namespace ringcheck::reports
