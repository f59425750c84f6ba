// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of one program become one result, a sample a run; what does not belong together does not.
#include "reports/compare/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "property_tests/reports/full_result.h"

namespace ringcheck::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Result run_of(std::vector<Figure> samples) {
  Result run = result_of({case_of(Status::kPass)});
  run.measurements = {{"time", {{"P", "4"}}, "s", std::move(samples), "smaller", {}},
                      {"time", {{"P", "8"}}, "s", {8}, "smaller", {}}};
  return run;
}

TEST(Join, HasASampleForEachRun) {
  const Result all = join({run_of({3, 1, 2}), run_of({5}), run_of({6, 7})}, {"a", "b", "c"});
  ASSERT_EQ(all.measurements.size(), 2U);
  EXPECT_EQ(all.measurements[0].samples, (std::vector<Figure>{2, 5, 6.5}));
  EXPECT_EQ(all.measurements[1].samples, (std::vector<Figure>{8, 8, 8}));
  EXPECT_EQ(all.environment.wall_seconds, 6);
  EXPECT_EQ(all.summary.passed, 1);
  EXPECT_EQ(all.cases.size(), 1U);
}

TEST(Join, RunsOfOtherSeriesStandBesideEachOtherWithAllTheirSamples) {
  Result other = result_of({case_of(Status::kCrash)});
  other.cases[0].name = "another case";
  other.measurements = {{"time", {{"P", "16"}}, "s", {1, 2, 9}, "smaller", {}}};
  const Result all = join({run_of({3, 1, 2}), other, run_of({5})}, {"a", "b", "c"});
  ASSERT_EQ(all.measurements.size(), 3U);
  EXPECT_EQ(all.measurements[0].samples, (std::vector<Figure>{2, 5}));
  EXPECT_EQ(all.measurements[2].samples, (std::vector<Figure>{1, 2, 9}));
  ASSERT_EQ(all.cases.size(), 2U);
  EXPECT_EQ(all.cases[1].name, "another case");
  EXPECT_EQ(all.summary.cases, 2);
  EXPECT_EQ(all.summary.crash, 1);
}

struct Edit {
  const char* says;
  std::function<void(Result&)> edit;
};

TEST(Join, WhatDoesNotBelongTogetherIsRefused) {
  const Edit edits[] = {
      {"of kind bench, the first of kind verify", [](Result& run) { run.kind = Kind::kBench; }},
      {"of commit other", [](Result& run) { run.environment.commit = "other"; }},
      {"another machine than the first: cores", [](Result& run) { run.environment.cores = 3; }},
      {"other series", [](Result& run) { run.measurements.pop_back(); }},
      {"other series", [](Result& run) { run.measurements[0].parts["P"] = "2"; }},
      {"other series", [](Result& run) { run.measurements[0].unit = "ms"; }},
      {"other series", [](Result& run) { run.measurements[0].better = "larger"; }},
      {"time of the same parts twice", [](Result& run) { run.measurements[0].parts["P"] = "8"; }},
      {"another verdict", [](Result& run) { run.cases[0].verdict = Status::kCrash; }},
      {"other cases", [](Result& run) { run.cases.clear(); }},
      {"other series", [](Result& run) { run.measurements.clear(); }},
  };
  for (const Edit& one : edits) {
    Result other = run_of({5});
    one.edit(other);
    try {
      join({run_of({1}), other}, {"a", "b"});
      ADD_FAILURE() << one.says;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("'b' "), HasSubstr(one.says)));
    }
  }
}

}  // namespace
}  // namespace ringcheck::reports
