// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Several runs of a side say together what is wrong, and only together what is judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/reports/full_result.h"
#include "reports/compare/comparison.h"

namespace ringcheck::reports {
namespace {

Result with(Status parity) {
  CaseResult test = case_of(parity);
  test.verdict = parity == Status::kFail || parity == Status::kSkipped ? parity : Status::kPass;
  test.oracles = {{"parity", parity, false, {}, {}}, {"census", Status::kPass, false, {}, {}}};
  return result_of({test});
}

std::vector<std::string> changes(const std::vector<Status>& base, const std::vector<Status>& now) {
  Side sides[2];
  for (const int at : {0, 1})
    for (const Status parity : at == 0 ? base : now) {
      sides[at].names.push_back(std::to_string(at) + std::to_string(sides[at].runs.size()));
      sides[at].runs.push_back(with(parity));
    }
  std::vector<std::string> lines;
  for (const Change& change : compare(sides[0], sides[1], {}, {}).changes())
    lines.push_back(to_text(change.kind) + ": " + change.what);
  return lines;
}

constexpr Status kPass = Status::kPass, kFail = Status::kFail, kOpen = Status::kNotApplicable, kSkipped = Status::kSkipped;

TEST(Sides, FailWhereOneOfTheirRunsDoes) {
  const std::vector<Status> orders[] = {{kFail, kPass, kPass}, {kPass, kFail, kPass}, {kPass, kPass, kFail}};
  for (const auto& once : orders) {
    EXPECT_THAT(changes({kPass, kPass, kPass}, once), ::testing::ElementsAre("newly fails: parity"));
    EXPECT_THAT(changes(once, {kFail, kFail}), ::testing::ElementsAre("still fails: parity"));
    EXPECT_THAT(changes(once, {kPass}), ::testing::ElementsAre("passes again: parity"));
  }
}

TEST(Sides, AreJudgedWhereAllOfTheirRunsAre) {
  const std::vector<Status> orders[] = {{kOpen, kPass, kPass}, {kPass, kOpen, kPass}, {kPass, kPass, kOpen}};
  for (const auto& once : orders) {
    EXPECT_THAT(changes({kPass, kPass}, once), ::testing::ElementsAre("no longer judged: oracle parity"));
    EXPECT_THAT(changes(once, {kOpen}), ::testing::IsEmpty());
  }
}

// It would bear the next failure of this name.
TEST(Sides, AWaiverOfWhatPassesAgainIsToGo) {
  const auto waived = [](Status base, Status now) {
    const nlohmann::json entry{{"case", "*"}, {"finding", "parity"}, {"reason", "known"}, {"until", "2026-01-31"}};
    Comparison all = compare({{"base"}, {with(base)}}, {{"new"}, {with(now)}}, {}, {});
    apply(Waivers({{"waivers", {entry}}}, "2026-01-01"), all);
    const std::string lines = console_text(all);
    EXPECT_EQ(lines.find("waived no longer") != std::string::npos, now == kPass) << lines;
    return exit_code(all);
  };
  EXPECT_EQ(waived(kPass, kFail), 0);
  EXPECT_EQ(waived(kFail, kFail), 0);
  EXPECT_EQ(waived(kFail, kPass), 1);
  EXPECT_EQ(waived(kPass, kSkipped), 6) << "nobody knows whether it passes";
}

}  // namespace
}  // namespace ringcheck::reports
