// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What is worse in the second of two results is found, named, and decides the exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"
#include "property_tests/reports/compare/two_sides.h"
#include "property_tests/reports/full_result.h"
#include "property_tests/reports/json_schema.h"
#include "reports/envelope.h"

namespace ringcheck::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

CaseResult judged_case(const std::string& name) {
  CaseResult test = case_of(Status::kPass);
  test.name = name;
  test.parts = {{"kernel", name}};
  TensorResult tensor;
  tensor.tensor = "dq";
  tensor.chart = Status::kPass;
  test.oracles = {{"parity", Status::kPass, false, {tensor}, {}}, {"counters", Status::kPass, true, {}, {}}};
  test.judged = {{"dq", {"bounded", "bounded"}}};
  test.ranks.resize(2);
  test.ranks[1].rank = 1;
  test.ranks[1].forward.messages = 3;
  return test;
}

Result good() { return result_of({judged_case("a"), judged_case("b")}); }

TEST(Compare, EqualResultsAreNotWorse) {
  const Comparison equal = of(good(), good());
  EXPECT_EQ(exit_code(equal), 0);
  EXPECT_THAT(equal.changes(), IsEmpty());
  EXPECT_THAT(console_text(equal), HasSubstr("nothing is worse; 2 cases, 0 of them new"));
}

// One edit of NEW, and what is said of it.
struct Edit {
  const char* what;
  std::function<void(Result&)> edit;
  ChangeKind kind;
  const char* says;
  int code;
};

const Edit kEdits[] = {
    {"a tensor fails", [](Result& r) {
       r.cases[1].verdict = r.cases[1].oracles[0].verdict = r.cases[1].oracles[0].tensors[0].verdict = Status::kFail;
     }, ChangeKind::kFails, "parity: dq", 1},
    {"an oracle without tensors fails", [](Result& r) {
       r.cases[1].verdict = r.cases[1].oracles[0].verdict = Status::kFail;
     }, ChangeKind::kFails, "    parity\n", 1},
    {"a contract is violated", [](Result& r) {
       r.cases[1].verdict = r.cases[1].oracles[1].verdict = Status::kFail;
     }, ChangeKind::kContract, "counters", 4},
    {"a case fails of which no oracle says why", [](Result& r) {
       r.cases[1].verdict = Status::kFail;
     }, ChangeKind::kFails, "fail", 1},
    {"a case hangs", [](Result& r) { r.cases[1].verdict = Status::kHang; }, ChangeKind::kDead, "hang", 5},
    {"a case crashes", [](Result& r) { r.cases[1].verdict = Status::kCrash; }, ChangeKind::kDead, "crash", 5},
    {"a rank counts more", [](Result& r) { ++r.cases[1].ranks[1].forward.messages; },
     ChangeKind::kCounter, "rank 1: forward.messages 3 -> 4", 4},
    {"a rank counts less", [](Result& r) { r.cases[1].ranks[1].forward.messages = 2; },
     ChangeKind::kCounter, "rank 1: forward.messages 3 -> 2", 4},
    {"a rank is missing", [](Result& r) { r.cases[1].ranks.pop_back(); },
     ChangeKind::kCounter, "rank 1: forward.messages 3 -> none", 4},
    {"a case that is judged has no ranks any more", [](Result& r) { r.cases[1].ranks.clear(); },
     ChangeKind::kCounter, "counters of ranks", 4},
    {"a case is skipped", [](Result& r) { r.cases[1].verdict = Status::kSkipped; r.cases[1].reason = "no mpirun"; },
     ChangeKind::kUnjudged, "skipped: no mpirun", 6},
    {"a case is inconclusive", [](Result& r) { r.cases[1].verdict = Status::kInconclusive; },
     ChangeKind::kUnjudged, "inconclusive", 6},
    {"a tensor of a rank is judged by nobody", [](Result& r) { r.cases[1].judged["dq"][1] = "nobody"; },
     ChangeKind::kUnjudged, "dq of rank 1", 6},
    {"an oracle has nothing to say", [](Result& r) { r.cases[1].oracles[0].verdict = Status::kNotApplicable; },
     ChangeKind::kUnjudged, "oracle parity", 6},
    {"an oracle is not asked", [](Result& r) { r.cases[1].oracles.erase(r.cases[1].oracles.begin()); },
     ChangeKind::kUnjudged, "oracle parity", 6},
    {"a chart is not calibrated", [](Result& r) { r.cases[1].oracles[0].tensors[0].chart = Status::kNotCalibrated; },
     ChangeKind::kUnjudged, "chart of dq by parity", 6},
    {"a case is gone", [](Result& r) { r.cases.pop_back(); }, ChangeKind::kVanished, "the case", 6},
};

TEST(Compare, WhatIsWorseIsNamed) {
  for (const Edit& edit : kEdits) {
    Result now = good();
    edit.edit(now);
    const Comparison worse = of(good(), now);
    EXPECT_EQ(exit_code(worse), edit.code) << edit.what;
    ASSERT_FALSE(worse.changes().empty()) << edit.what;
    const std::string text = console_text(worse);
    EXPECT_THAT(text, AllOf(HasSubstr(to_text(edit.kind)), HasSubstr(edit.says), HasSubstr("\n  b\n"))) << edit.what;
    EXPECT_THAT(markdown_text(worse), HasSubstr("| " + to_text(edit.kind) + " | ")) << edit.what;
    const bool has_counters = !now.cases.back().ranks.empty();  // what a base without any had is not known
    EXPECT_EQ(exit_code(of(now, good())) == 0, edit.kind != ChangeKind::kCounter || !has_counters) << edit.what;
  }
}

TEST(Compare, ACounterThatTheBaseDidNotHaveIsNoDifference) {
  Result now = good();
  for (RankResult& rank : now.cases[1].ranks) rank.forward.overlapped = 2;
  EXPECT_EQ(exit_code(of(good(), now)), 0);
  EXPECT_EQ(exit_code(of(now, good())), 4) << "one that is gone";
  Result otherwise = now;
  otherwise.cases[1].ranks[1].forward.overlapped = 1;
  EXPECT_EQ(exit_code(of(now, otherwise)), 4);
}

// Two runs of one program on a GPU were seen 0.5 MiB apart, and those of a function in Python 6 KiB.
TEST(Compare, APeakMayDifferByWhatAGpusAllocatorRoundsUpAndInPython) {
  const auto off = [](const char* part, const char* value, int64_t by, auto counter) {
    Result base = good(), now = good();
    for (Result* side : {&base, &now}) side->cases[1].parts[part] = value;
    now.cases[1].ranks[1].*counter += by;
    return exit_code(of(base, now)) + exit_code(of(now, base));
  };
  const auto peak = &RankCounted::peak_bytes, kv = &RankCounted::kv_bytes;
  constexpr int64_t kMiB = 1 << 20;
  EXPECT_EQ(off("device", "cuda", kMiB / 2, peak), 0);
  EXPECT_EQ(off("device", "cuda", kMiB + 512 * (32 + 2 * 2), peak), 0);
  EXPECT_EQ(off("device", "cuda", kMiB + 512 * (32 + 2 * 2) + 1, peak), 8);
  EXPECT_EQ(off("device", "cuda", 512, kv), 8);
  EXPECT_EQ(off("device", "cpu", 1, peak), 8);
  EXPECT_EQ(off("subject", "python[mine.py:mine]", 2 * kMiB, peak), 0);
  EXPECT_EQ(off("subject", "python[mine.py:mine]", 1, kv), 8);
}

TEST(Compare, WhatFailsAsBeforeIsSaidAndNoMore) {
  Result failing = good(), otherwise;
  kEdits[0].edit(failing);
  EXPECT_EQ(exit_code(of(failing, failing)), 0);
  EXPECT_THAT(console_text(of(failing, failing)), HasSubstr("still fails: 1"));
  EXPECT_THAT(console_text(of(failing, good())), HasSubstr("passes again: 1"));
  otherwise = failing;
  otherwise.cases[1].oracles.push_back({"census", Status::kFail, false, {}, {}});
  EXPECT_EQ(exit_code(of(failing, otherwise)), 1) << "another finding in a case that failed before";
}

TEST(Compare, ANewCaseThatFailsIsWorse) {
  Result now = good();
  now.cases.push_back(failed(false));
  EXPECT_EQ(exit_code(of(good(), now)), 1);
  now.cases.back() = judged_case("c");
  EXPECT_EQ(exit_code(of(good(), now)), 0);
  EXPECT_THAT(console_text(of(good(), now)), HasSubstr("3 cases, 1 of them new"));
}

// Where several apply: 5, 1, 4, 3, 6.
TEST(Compare, TheWorstDecides) {
  const std::vector<double> fast{1, 1.01, 0.99, 1, 1.01, 0.98, 1}, slow{2, 2.01, 1.99, 2, 2.02, 1.98, 2};
  SpeedQuestion question;
  question.interleaved = true;
  Result base = good();
  base.measurements = {measured("time", fast)};
  Result now = base;
  now.cases[1].verdict = Status::kSkipped;
  EXPECT_EQ(exit_code(of(base, now, question)), 6);
  now.measurements = {measured("time", slow)};
  EXPECT_EQ(exit_code(of(base, now, question)), 3);
  now.cases[0].ranks[0].kv_bytes = 7;
  EXPECT_EQ(exit_code(of(base, now, question)), 4);
  kEdits[0].edit(now);
  EXPECT_EQ(exit_code(of(base, now, question)), 1);
  now.cases[0].verdict = Status::kHang;
  EXPECT_EQ(exit_code(of(base, now, question)), 5);
}

TEST(Compare, WithoutAnythingJudgedNothingRan) {
  Result skipped = good();
  for (CaseResult& test : skipped.cases) test.verdict = Status::kSkipped;
  EXPECT_EQ(exit_code(of(skipped, skipped)), 77);
}

// What differs among the runs of a side may have any of their values.
TEST(Compare, RunsThatDifferAmongThemselvesAreNoCounters) {
  Result other = good();
  ++other.cases[0].ranks[0].peak_bytes;
  EXPECT_EQ(exit_code(compare(side({good(), other}, "base"), side({other, good()}, "new"), {}, {})), 0);
  EXPECT_EQ(exit_code(compare(side({good(), other}, "base"), side({good()}, "new"), {}, {})), 0);
  EXPECT_EQ(exit_code(compare(side({good(), good()}, "base"), side({other, good()}, "new"), {}, {})), 4);
}

TEST(Compare, OneRunASideSaysNothingOfSpeed) {
  Result base = good(), now = good();
  base.measurements = {measured("time", {1, 1, 1, 1, 1, 1, 1, 1})};
  now.measurements = {measured("time", {9, 9, 9, 9, 9, 9, 9, 9})};
  const Comparison unknown = of(base, now);
  EXPECT_EQ(exit_code(unknown), 6);
  EXPECT_THAT(console_text(unknown), HasSubstr("1 against 1 runs; want 4 a side"));
  SpeedQuestion question;
  question.history = [](const Measurement& of) {
    EXPECT_EQ(of.name, "time");
    return repeated({1, 1.01, 1, 1.02, 1, 0.99, 1.01, 1, 1.01, 1});
  };
  const Comparison known = of(base, now, question);
  EXPECT_EQ(exit_code(known), 3);
  EXPECT_EQ(known.speeds.series[0].how, "spread of 20 earlier runs");
  question.history = [](const Measurement&) { return repeated({1, 5, 2, 7, 1, 5, 2, 7, 1, 9}); };
  EXPECT_EQ(exit_code(of(base, base, question)), 6) << "twice as slow would not show";
}

TEST(Compare, SeriesThatVanishAreSaid) {
  Result base = good(), now = good();
  base.measurements = {measured("time", {1})};
  EXPECT_EQ(exit_code(of(base, now)), 6);
  EXPECT_THAT(console_text(of(base, now)), HasSubstr("time of {\"P\":\"4\"}"));
  EXPECT_EQ(exit_code(of(now, base)), 0);
}

TEST(Compare, OtherMachinesKindsAndShapesAreRefused) {
  const auto says = [](const Result& base, const Result& now, const Ignored& ignored = {}) {
    try {
      compare(side({base}), side({now}), ignored, {});
    } catch (const Incomparable& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Result other = good();
  other.environment.device = "1 x NVIDIA H200";
  EXPECT_THAT(says(good(), other), AllOf(HasSubstr("different machines: device '' against '1 x NVIDIA H200'"),
                                         HasSubstr("--across-machines"), Not(HasSubstr("cpu"))));
  EXPECT_EQ(says(good(), other, {true, {}}), "");
  other = good();
  other.kind = Kind::kScaling;
  EXPECT_THAT(says(good(), other, {true, {}}), HasSubstr("of kind scaling"));
  other = result_of({judged_case("x")});
  EXPECT_THAT(says(good(), other), AllOf(HasSubstr("no case and no measurement in common"),
                                         HasSubstr("the first of one is a, of the other x"), HasSubstr("--ignore")));
  other = good();
  Result base = good();
  base.measurements = other.measurements = {measured("time", {1})};
  other.measurements[0].unit = "ms";
  EXPECT_THAT(says(base, other), AllOf(HasSubstr("time of {\"P\":\"4\"}"), HasSubstr("'s'"), HasSubstr("'ms'")));
  other.measurements[0] = measured("time", {1});
  other.measurements[0].better = "larger";
  EXPECT_THAT(says(base, other), AllOf(HasSubstr("'smaller'"), HasSubstr("'larger'"), HasSubstr("one way that is better")));
  other = result_of({judged_case("x")});
  EXPECT_THAT(says(good(), result_of({})), HasSubstr("neither cases nor measurements"));
  EXPECT_THAT(says(good(), good(), {false, {"kernel"}}), HasSubstr("has both a and b"));
  EXPECT_EQ(says(result_of({judged_case("a")}), other, {false, {"kernel"}}), "");
}

// What a result says of a case goes to a terminal.
TEST(Compare, SaysNothingThatATerminalObeys) {
  Result now = good();
  now.cases[1].verdict = Status::kSkipped;
  now.cases[1].reason = "\x1b[31mred\nagain";
  now.cases[1].reproduce = "\x1b]0;title\x07";
  const std::string text = console_text(of(good(), now));
  EXPECT_THAT(text, AllOf(HasSubstr("red"), Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), Not(HasSubstr("red\n"))));
}

TEST(Compare, JsonObeysItsSchema) {
  Result base = good(), now = good();
  kEdits[0].edit(now);
  base.measurements = now.measurements = {measured("time", {1, 1, 1, 1, 1, 1}), measured("odd", {-1})};
  SpeedQuestion question;
  question.interleaved = true;
  const nlohmann::json file = envelope(Kind::kCompare, base.environment, to_json(of(base, now, question)));
  const auto schema =
      nlohmann::json::parse(testing::read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
  EXPECT_THAT(testing::schema_violations(schema, file), IsEmpty()) << file.dump(1);
  EXPECT_EQ(file["compare"]["exit_code"], 1);
  EXPECT_EQ(file["compare"]["speed"].size(), 2U);
}

}  // namespace
}  // namespace ringcheck::reports
