// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A dashboard has the cases of the newest run of each machine, branch and kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"
#include "property_tests/reports/full_result.h"
#include "reports/dashboard/dashboard.h"
#include "reports/history/history.h"
#include "reports/history/run.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

json run_at(int hour, Kind kind, int cores = 2) {
  Result result = result_of({case_of(Status::kPass)});
  result.kind = kind;
  result.environment.started = "2026-01-01T0" + std::to_string(hour) + ":00:00Z";
  result.environment.cores = cores;
  json file = to_json(result);
  file[to_text(kind)] = json::object();
  return file;
}

TEST(Details, AreOfTheNewestRunOfEachMachineBranchAndKind) {
  const testing::Folder folder;
  History history(folder.file("history.db"), History::Missing::kCreate);
  history.add({run_of(run_at(0, Kind::kVerify)), run_of(run_at(1, Kind::kVerify)), run_of(run_at(2, Kind::kScaling)),
               run_of(run_at(3, Kind::kVerify, 4))}, "main");
  history.add({run_of(run_at(4, Kind::kVerify))}, "other");
  const json page = dashboard_data(history, 0);
  std::vector<std::string> hours;
  for (const json& detail : page.at("details"))
    hours.push_back(page.at("runs").at(detail.at("run").get<size_t>()).at("started").get<std::string>().substr(11, 2));
  EXPECT_THAT(hours, ::testing::UnorderedElementsAre("01", "02", "03", "04"));
}

// The page that a history of this run alone makes.
json page_of(const std::vector<CaseResult>& cases) {
  const testing::Folder folder;
  History history(folder.file("history.db"), History::Missing::kCreate);
  history.add({run_of(to_json(result_of(cases)))}, "main");
  return dashboard_data(history, 0);
}

CaseResult numbered(size_t number, Status verdict) {
  CaseResult test = case_of(verdict);
  test.name = "case " + std::to_string(number);
  return test;
}

// A page has room for 2000 of them.
TEST(Details, HaveRanksOfWhatDidNotPassFirst) {
  constexpr size_t kPassed = 25, kOthers = 3, kRanks = 100;
  std::vector<CaseResult> cases;
  for (size_t i = 0; i < kPassed + kOthers; ++i) {
    cases.push_back(numbered(i, i < kPassed ? Status::kPass : Status::kFail));
    cases.back().ranks.resize(kRanks);
    for (size_t rank = 0; rank < kRanks; ++rank) cases.back().ranks[rank].rank = static_cast<int>(rank);
  }
  const json rows = page_of(cases).at("details").at(0).at("cases");
  size_t passed = 0;
  for (size_t i = 0; i < kPassed; ++i) passed += rows.at(i).contains("ranks");
  EXPECT_EQ(passed, 2000 / kRanks - kOthers);
  for (size_t i = kPassed; i < rows.size(); ++i) EXPECT_EQ(rows[i].at("ranks").size(), kRanks) << i;
}

// Smallest, quartiles, 95th of a hundred and largest of few: each the nearest of the values.
TEST(Details, QuantilesOfFewMarginsAreOfThem) {
  const std::vector<json> expected{{1, 1, 1, 1, 1, 1}, {1, 1, 2, 2, 2, 2}, {1, 2, 2, 3, 3, 3}, {1, 2, 3, 3, 4, 4}, {1, 2, 3, 4, 5, 5}};
  for (size_t count = 1; count <= expected.size(); ++count) {
    std::vector<CaseResult> cases;
    for (size_t i = 0; i < count; ++i) {
      cases.push_back(numbered(i, Status::kPass));
      TensorResult tensor;
      tensor.tensor = "o";
      tensor.hard_ratio = static_cast<double>(1 + (i + 2) % count);  // not in their order
      cases.back().oracles = {{"parity", Status::kPass, false, {tensor}, {}}};
    }
    const json errors = page_of(cases).at("errors").at(0);
    EXPECT_EQ(errors.at("cases"), count);
    EXPECT_EQ(errors.at("margin"), expected[count - 1]) << count;
  }
}

}  // namespace
}  // namespace ringcheck::reports
