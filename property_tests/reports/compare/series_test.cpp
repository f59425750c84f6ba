// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What of a series stands for a run, what for a sample, and which side is which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/reports/compare/two_sides.h"
#include "property_tests/reports/full_result.h"

namespace ringcheck::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// How far the medians of runs differ says too little of how far samples do.
TEST(Series, SamplesInTurnsAreNotJudgedByAHistory) {
  SpeedQuestion question;
  question.history = [](const Measurement&) { return repeated({1, 1.01, 1, 1.02, 1, 0.99, 1.01, 1, 1.01, 1}); };
  Result base = result_of({}), now = result_of({});
  base.measurements = {measured("time", {1, 1.3, 0.8})};
  now.measurements = {measured("time", {1.2, 1.3, 1.1})};
  EXPECT_EQ(exit_code(of(base, now, question)), 3);
  question.interleaved = true;
  EXPECT_EQ(exit_code(of(base, now, question)), 6);
  EXPECT_THAT(console_text(of(base, now, question)),
              AllOf(HasSubstr("3 against 3 samples; want 4 a side"), Not(HasSubstr("--history"))));
}

// Also where another run of its side has not measured it at all.
TEST(Series, OneRunHasASeriesOnce) {
  Result none = result_of({case_of(Status::kPass)}), once = none, twice = none;
  once.measurements = twice.measurements = {measured("time", {1})};
  twice.measurements.push_back(twice.measurements[0]);
  twice.measurements[1].parts["P"] = "8";
  const Ignored ignored{false, {"P"}};
  EXPECT_NO_THROW(compare(side({once}, "base"), side({none, once}, "new"), ignored, {}));
  for (const std::vector<Result>& runs : {std::vector{twice}, {once, twice}, {none, twice}})
    EXPECT_THROW(compare(side({once}, "base"), side(runs, "new"), ignored, {}), Incomparable);
}

// What the samples of one run have in common is no property of its code, however far one of them lies off.
TEST(Series, ARunIsItsMedian) {
  const auto runs = [](double time) {
    std::vector<Result> all;
    for (const double noise : {1.0, 1.01, 0.99, 1.02, 0.98, 1.03}) {
      all.push_back(result_of({}));
      all.back().measurements = {measured("time", {time * noise, 1000 * time, time * noise, 0.1, time * noise})};
    }
    return all;
  };
  const Comparison slower = compare(side(runs(1), "base"), side(runs(1.5), "new"), {}, {});
  ASSERT_EQ(slower.speeds.series.size(), 1U);
  EXPECT_EQ(slower.speeds.series[0].base_values, 6U);
  EXPECT_NEAR(slower.speeds.series[0].base_median, 1.005, 1e-9);
  EXPECT_NEAR(slower.speeds.series[0].slowdown->high, 1.5, 0.1);
}

// A closed form that is measured, as bytes, is the same in each of them.
TEST(Series, AHistoryThatDoesNotVaryJudgesByTheMargin) {
  SpeedQuestion question;
  question.history = [](const Measurement&) { return repeated({4, 4, 4, 4, 4, 4, 4, 4, 4, 4}); };
  const auto verdict = [&](double base, double now) {
    Result one = result_of({}), other = result_of({});
    one.measurements = {measured("bytes", {base})};
    other.measurements = {measured("bytes", {now})};
    return of(one, other, question).speeds.series[0].verdict;
  };
  EXPECT_EQ(verdict(4, 4), SpeedVerdict::kSame);
  EXPECT_EQ(verdict(4, 4.01), SpeedVerdict::kSame);
  EXPECT_EQ(verdict(4, 6), SpeedVerdict::kSlower);
  EXPECT_EQ(verdict(6, 4), SpeedVerdict::kFaster);
}

TEST(Series, EqualSamplesAreTheSameUnderTheLargestMargin) {
  SpeedQuestion question;
  question.interleaved = true;
  question.margin = 1;
  Result run = result_of({});
  run.measurements = {measured("time", {1, 1, 1, 1, 1, 1, 1})};
  EXPECT_EQ(of(run, run, question).speeds.series[0].verdict, SpeedVerdict::kSame);
}

// Which of older and newer programs calls a way better is no difference of what they measure.
TEST(Series, WhatOneSideDoesNotCallBetterIsNotJudged) {
  SpeedQuestion question;
  question.interleaved = true;
  Result base = result_of({}), now = result_of({});
  base.measurements = {measured("error", {1, 1, 1, 1, 1, 1})};
  now.measurements = {measured("error", {2, 2, 2, 2, 2, 2})};
  now.measurements[0].better = "";
  EXPECT_EQ(of(base, now, question).speeds.series[0].how, "neither way is better");
  EXPECT_EQ(of(now, base, question).speeds.series[0].verdict, SpeedVerdict::kNoRatio);
}

TEST(Series, SpeedIsASlowdownWhicheverWayIsBetter) {
  SpeedQuestion question;
  question.interleaved = true;
  Result base = result_of({}), now = base;
  base.measurements = {measured("time", {1, 1.01, 1.02, 1.03, 1.04, 1.05})};
  now.measurements = {measured("time", {2, 2.01, 2.02, 2.03, 2.04, 2.05})};
  EXPECT_EQ(of(base, now, question).speeds.series[0].verdict, SpeedVerdict::kSlower);
  EXPECT_EQ(of(now, base, question).speeds.series[0].verdict, SpeedVerdict::kFaster);
  base.measurements[0].better = now.measurements[0].better = "larger";
  EXPECT_EQ(of(base, now, question).speeds.series[0].verdict, SpeedVerdict::kFaster);
  EXPECT_EQ(of(now, base, question).speeds.series[0].verdict, SpeedVerdict::kSlower);
  EXPECT_NEAR(of(now, base, question).speeds.series[0].slowdown->estimate, 1.97, 0.02);
  EXPECT_EQ(of(now, base, question).speeds.series[0].effect, 1);
  base.measurements[0].better = now.measurements[0].better = "";
  EXPECT_EQ(exit_code(of(base, now, question)), 77);
}

// A program that no longer measures anything is no faster one.
TEST(Series, WhatWasMeasuredAndIsNoNumberNowIsInconclusive) {
  Result base = result_of({case_of(Status::kPass)}), now = result_of({case_of(Status::kPass)});
  base.measurements = now.measurements = {measured("time", {1})};
  for (const std::vector<Figure>& lost : {std::vector<Figure>{kNan}, {kInfinity}, {1, kNan}, {}}) {
    now.measurements[0].samples = lost;
    EXPECT_EQ(exit_code(of(base, now)), 6);
    EXPECT_THAT(console_text(of(base, now)), HasSubstr("inconclusive: a sample is not a positive number"));
    EXPECT_EQ(of(now, now).speeds.series[0].verdict, SpeedVerdict::kNoRatio) << "nor was it before";
  }
  now.measurements[0].samples = {0};
  EXPECT_EQ(of(base, now).speeds.series[0].verdict, SpeedVerdict::kNoRatio) << "no time at all is none too many";
  base.measurements[0].better = now.measurements[0].better = "larger";
  EXPECT_EQ(of(base, now).speeds.series[0].verdict, SpeedVerdict::kInconclusive) << "a rate of nothing";
}

TEST(Series, JsonTellsBaseFromNew) {
  CaseResult test = case_of(Status::kPass);
  test.ranks.resize(1);
  test.ranks[0].forward.messages = 3;
  Result base = result_of({test}), now = base;
  now.cases[0].ranks[0].forward.messages = 2;
  base.measurements = {measured("time", {1, 1.5, 4})};
  now.measurements = {measured("time", {2, 2.5})};
  SpeedQuestion question;
  question.interleaved = true;
  const nlohmann::json file = to_json(of(base, now, question)), speed = file["speed"][0];
  EXPECT_EQ(speed["base"], (nlohmann::json{{"values", 3}, {"median", 1.5}}));
  EXPECT_EQ(speed["new"], (nlohmann::json{{"values", 2}, {"median", 2.25}}));
  EXPECT_EQ(file["changes"][0]["base"], "3");
  EXPECT_EQ(file["changes"][0]["new"], "2");
  EXPECT_EQ(file["base"][0]["name"], "base0");
  EXPECT_EQ(file["new"][0]["name"], "new0");
}

}  // namespace
}  // namespace ringcheck::reports
