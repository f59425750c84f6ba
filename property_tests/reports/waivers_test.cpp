// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A waiver bears exactly what it says, for as long as it says, and as long as it is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/reports/full_result.h"
#include "reports/formats/junit.h"
#include "reports/waivers.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kToday = "2026-11-22";

json entry(const std::string& test, const std::string& finding, const std::string& until = kToday) {
  return {{"case", test}, {"finding", finding}, {"reason", "known"}, {"until", until}};
}
Waivers of(const std::vector<json>& entries, const std::string& today = kToday) {
  return {json::object({{"waivers", entries}}), today};
}

CaseResult failing(const std::string& name) {
  CaseResult test = failed(false);
  test.name = name;
  TensorResult tensor;
  tensor.tensor = "dk";
  tensor.verdict = Status::kFail;
  test.oracles[0] = {"parity", Status::kFail, false, {tensor}, {}};
  return test;  // parity: dk, counters
}

TEST(Waivers, BearAllOrNothingOfACase) {
  std::vector<CaseResult> cases{failing("doc[9:1,2]/a"), case_of(Status::kPass)};
  const auto left = [&](const std::vector<json>& entries) {
    std::vector<CaseResult> copy = cases;
    waive(of(entries), copy);
    return copy.size();
  };
  EXPECT_EQ(left({entry("doc[9:1,2]/a", "parity: dk"), entry("*", "counters")}), 1U);
  EXPECT_EQ(left({entry("doc[9:1,2]/*", "*")}), 1U);
  EXPECT_EQ(left({entry("doc[9:1,2]/a", "parity: dk")}), 2U);
  EXPECT_EQ(left({entry("doc[9:1,2]/a", "parity: d?"), entry("*", "counters")}), 2U);
  EXPECT_EQ(left({entry("doc9/*", "*")}), 2U);
  EXPECT_EQ(left({entry("a", "*")}), 2U);
  EXPECT_EQ(left({}), 2U);
}

TEST(Waivers, HangsAreBorneByName) {
  std::vector<CaseResult> cases{case_of(Status::kHang)};
  EXPECT_THAT(waive(of({entry("*", "crash")}), cases).cases, IsEmpty());
  const Waived waived = waive(of({entry("*", "hang")}), cases);
  ASSERT_EQ(waived.cases.size(), 1U);
  EXPECT_THAT(to_text(waived.cases[0]), HasSubstr("hang: known"));
  EXPECT_THAT(cases, IsEmpty());
}

TEST(Waivers, ExpireAfterTheirLastDay) {
  std::vector<CaseResult> cases{failing("a")};
  const Waived waived = waive(of({entry("a", "*")}, "2026-11-23"), cases);
  EXPECT_EQ(cases.size(), 1U);
  EXPECT_THAT(waived.stale, ElementsAre(HasSubstr("expired on 2026-11-22")));
}

// One for what passes is to go; one for cases that did not run, or showed nothing, may stay.
TEST(Waivers, AreToGoWhenTheyAreNotNeeded) {
  const auto stale = [](CaseResult test, const std::vector<json>& entries) {
    std::vector<CaseResult> cases{std::move(test)};
    return waive(of(entries), cases).stale;
  };
  CaseResult passing = case_of(Status::kPass), skipped = case_of(Status::kSkipped);
  passing.name = skipped.name = "a";
  EXPECT_THAT(stale(passing, {entry("a", "parity: dk")}), ElementsAre(HasSubstr("take it away")));
  EXPECT_THAT(stale(failing("a"), {entry("a", "census")}), ElementsAre(HasSubstr("'census' of 'a' (known)")));
  EXPECT_THAT(stale(skipped, {entry("a", "*")}), IsEmpty());
  EXPECT_THAT(stale(passing, {entry("a", "rank 0: forward.messages"), entry("a", "the case")}), IsEmpty()) << "compare alone finds them";
  EXPECT_THAT(stale(passing, {entry("b", "*", "2020-01-01")}), IsEmpty());
}

// A mistyped case bears nothing, and says so; it is not red, as another profile may run the case.
TEST(Waivers, OfNoCaseThatRanAreNamed) {
  std::vector<CaseResult> cases{failing("a"), case_of(Status::kSkipped)};
  cases.back().name = "b";
  const Waived waived = waive(of({entry("a", "*"), entry("b", "*"), entry("c*", "*")}), cases);
  EXPECT_THAT(waived.idle, ElementsAre("the waiver of '*' of 'c*' (known) is of no case that ran"));
  EXPECT_THAT(waived.stale, IsEmpty());
}

// What is borne is skipped for its reason, and nothing else is.
TEST(Waivers, JUnitIsRedForTheRest) {
  CaseResult passing = case_of(Status::kPass), hanging = case_of(Status::kHang);
  passing.name = "c", hanging.name = "d";
  const Result result = result_of({failing("a"), failing("b"), passing, hanging});
  const auto told = [&](const std::vector<json>& entries, const std::string& today = kToday) {
    std::vector<CaseResult> cases = result.cases;
    return junit(result, waive(of(entries, today), cases));
  };
  const auto counts = [](int tests, int failures, int errors) {
    return HasSubstr("<testsuites name=\"ringcheck\" tests=\"" + std::to_string(tests) + "\" failures=\"" +
                     std::to_string(failures) + "\" errors=\"" + std::to_string(errors) + "\"");
  };
  EXPECT_THAT(told({}), AllOf(counts(4, 2, 1), Not(HasSubstr("skipped type"))));
  EXPECT_THAT(told({entry("a", "*")}),
              AllOf(counts(4, 1, 1), HasSubstr("<skipped type=\"waived\" message=\"counters: known; parity: dk: known\">")));
  EXPECT_THAT(told({entry("a", "parity: dk")}), counts(4, 2, 1)) << "counters still fails";
  EXPECT_THAT(told({entry("d", "hang")}), AllOf(counts(4, 2, 0), HasSubstr("message=\"hang: known\"")));
  // What holds no more is a failure by itself, and bears nothing.
  EXPECT_THAT(told({entry("a", "*")}, "2026-11-23"), AllOf(counts(5, 3, 1), HasSubstr("expired on 2026-11-22")));
  EXPECT_THAT(told({entry("c", "*")}), AllOf(counts(5, 3, 1), HasSubstr("<testsuite name=\"waivers\""),
                                            HasSubstr("<failure type=\"waiver\""), HasSubstr("take it away")));
}

TEST(Waivers, OfAnotherFormAreRefused) {
  json without = entry("a", "b"), more = entry("a", "b");
  without.erase("reason");
  more["untill"] = "2027-01-01";
  for (const json& file : {json(), json::array(), json::object(), json{{"waivers", 3}},
                           json{{"waivers", json::array({1})}}, json{{"waivers", json::array({without})}},
                           json{{"waivers", json::array({more})}}, json{{"waivers", json::array({entry("", "b")})}},
                           json{{"waivers", json::array({entry("a", "b", "soon")})}},
                           json{{"waivers", json::array({entry("a", "b", "2026-13-01")})}},
                           json{{"waivers", json::array()}, {"waiver", 1}}})
    EXPECT_THROW(Waivers(file, kToday), std::invalid_argument) << file;
  for (const char* no_day : {"2026-02-31", "2027-02-29", "2026-04-31", "2026-00-10", "2026-01-00", "2026-1-1"})
    EXPECT_THROW(of({entry("a", "b", no_day)}), std::invalid_argument) << no_day;
  for (const char* odd : {"\x1b[31mred", "two\nlines", "\xc2\x9b" "31m"})
    EXPECT_THROW(of({entry("a", odd)}), std::invalid_argument) << odd;
  EXPECT_FALSE(of({entry("a", "\u00e9")}).empty());
  EXPECT_FALSE(of({entry("a", "b", "2028-02-29")}).empty());
  EXPECT_TRUE(of({}).empty());
}

}  // namespace
}  // namespace ringcheck::reports
