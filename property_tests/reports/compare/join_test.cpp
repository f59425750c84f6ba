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

// Another table than run_of.
Result table_of(std::string name, std::vector<Figure> samples) {
  Result table = result_of({case_of(Status::kCrash)});
  table.cases[0].name = "case of " + name;
  table.measurements = {{std::move(name), {}, "s", std::move(samples), "smaller", {}}};
  return table;
}

TEST(Join, RunsOfOtherSeriesStandBesideEachOtherWithAllTheirSamples) {
  const Result all = join({run_of({3, 1, 2}), table_of("x", {1, 2, 9}), table_of("y", {4})}, {"a", "b", "c"});
  ASSERT_EQ(all.measurements.size(), 4U);
  EXPECT_EQ(all.measurements[0].samples, (std::vector<Figure>{3, 1, 2}));
  EXPECT_EQ(all.measurements[2].samples, (std::vector<Figure>{1, 2, 9}));
  EXPECT_EQ(all.measurements[3].samples, (std::vector<Figure>{4}));
  ASSERT_EQ(all.cases.size(), 3U);
  EXPECT_EQ(all.cases[1].name, "case of x");
  EXPECT_EQ(all.summary.cases, 3);
  EXPECT_EQ(all.summary.crash, 2);
  EXPECT_EQ(all.environment.wall_seconds, 6);
}

TEST(Join, OfOneRunHasItsMedians) {
  EXPECT_EQ(join({run_of({3, 1, 2})}, {"a"}).measurements[0].samples, (std::vector<Figure>{2}));
}

TEST(Join, SaysWhenTheFirstBeganAndAllThatWasCalled) {
  Result early = table_of("x", {1});
  early.environment.started = "2025-12-31T23:00:00Z";
  early.environment.command = "program --pairs 5";
  Result late = table_of("y", {1});
  late.environment.command = "program";
  Result later = table_of("z", {1});
  later.environment.command = "program";
  const Environment all = join({late, early, later}, {"a", "b", "c"}).environment;
  EXPECT_EQ(all.started, "2025-12-31T23:00:00Z");
  EXPECT_EQ(all.command, "program; program --pairs 5");
}

std::string refusal(const std::vector<Result>& runs) {
  try {
    join(runs, {"a", "b", "c"});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Join, WhatWasRunAgainDoesNotStandBesideOtherSeries) {
  EXPECT_THAT(refusal({run_of({1}), table_of("x", {1}), run_of({2})}), HasSubstr("'a' was run 2 times"));
  EXPECT_THAT(refusal({run_of({1}), table_of("x", {1}), table_of("x", {2})}), HasSubstr("'b' was run 2 times"));
}

TEST(Join, NamesTheRunThatHasSomeOfItsSeriesAndOne) {
  Result mixed = table_of("x", {1});
  mixed.measurements.push_back({"own", {}, "s", {1}, "smaller", {}});
  EXPECT_THAT(refusal({run_of({1}), table_of("x", {1}), mixed}), HasSubstr("'c' has measured other series than 'b', which has x, too"));
  Result same_case = table_of("y", {1});
  same_case.cases[0].name = "case of x";
  EXPECT_THAT(refusal({table_of("x", {1}), same_case}), HasSubstr("'b' has measured other series than 'a', which has case of x, too"));
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
      {"in another unit", [](Result& run) { run.measurements[0].unit = "ms"; }},
      {"another way better", [](Result& run) { run.measurements[0].better = "larger"; }},
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
