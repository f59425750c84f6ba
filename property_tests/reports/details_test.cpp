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

}  // namespace
}  // namespace ringcheck::reports
