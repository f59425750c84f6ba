// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The gates of detection close: each is given what it must refuse.
#include "property_tests/parity/faults/detection_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::set<std::string> kDtypes{"float64", "float32", "bf16", "fp16"};

json& first(json& list, const auto& satisfies) {
  for (json& element : list)
    if (satisfies(element)) return element;
  throw std::out_of_range("none satisfies");
}

TEST(KillGate, RefusesALostKillInEveryDtype) {
  const json committed = committed_result("cpu_faults.json");
  for (const std::string& dtype : kDtypes) {
    EXPECT_THAT(lost_kills(committed, committed, dtype), IsEmpty());
    const auto killed = [&](const json& cell) {
      return cell["dtype"] == dtype && cell["result"] == "killed";
    };
    for (const char* instead : {"survived", "equivalent", "not_applicable"}) {
      json matrix = committed;
      json& cell = first(own_part(matrix)["cells"], killed);
      cell["result"] = instead;
      EXPECT_THAT(lost_kills(matrix, committed, dtype), ElementsAre(HasSubstr(instead)));
    }
    json matrix = committed;
    first(own_part(matrix)["cells"], killed)["dtype"] = "another";
    EXPECT_THAT(lost_kills(matrix, committed, dtype), ElementsAre(HasSubstr("not hunted")));
  }
}

// The content of a result, as results of a kind are written; alone, as they were before.
json of_kind(const char* kind, const json& earlier) {
  return {{"schema_version", 2}, {"kind", kind}, {"environment", {}}, {kind, earlier}};
}

TEST(Gates, ReadResultsOfAKindAsThoseBefore) {
  const json committed_matrix = committed_result("cpu_faults.json");
  const json& matrix = own_part(committed_matrix);
  json worse = of_kind("faults", matrix);
  EXPECT_THAT(lost_kills(worse, matrix, "bf16"), IsEmpty());
  for (json& cell : own_part(worse)["cells"]) cell["result"] = "survived";
  EXPECT_GT(lost_kills(worse, matrix, "bf16").size(), 100U);
  const json committed_limits = committed_result("cpu_sensitivity.json");
  const json& limits = own_part(committed_limits);
  json blind = of_kind("sensitivity", limits);
  EXPECT_THAT(doubled_limits(blind, limits, kDtypes), IsEmpty());
  for (json& limit : own_part(blind)["limits"]) limit["epsilon"] = nullptr;
  EXPECT_GT(doubled_limits(blind, limits, kDtypes).size(), 100U);
}

TEST(KillGate, RefusesANewSurvivor) {
  const json committed = committed_result("cpu_faults.json");
  json matrix = committed;
  own_part(matrix)["cells"].push_back(
      {{"fault", "new"}, {"dtype", "bf16"}, {"result", "survived"}});
  EXPECT_THAT(lost_kills(matrix, committed, "bf16"), ElementsAre(HasSubstr("new")));
}

TEST(LimitGate, RefusesALimitThatDoubledOrIsGone) {
  const json committed = committed_result("cpu_sensitivity.json");
  EXPECT_THAT(doubled_limits(committed, committed, kDtypes), IsEmpty());
  for (const std::string& dtype : kDtypes)
    for (const char* by : {"hard", "stat", "parity"}) {
      const auto ours = [&](const json& limit) {
        return limit["dtype"] == dtype && limit["by"] == by && !limit["epsilon"].is_null();
      };
      json found = committed;
      json& epsilon = first(own_part(found)["limits"], ours)["epsilon"];
      const double before = epsilon;
      epsilon = 2 * before;
      EXPECT_THAT(doubled_limits(found, committed, kDtypes), IsEmpty());
      epsilon = 2.01 * before;
      EXPECT_THAT(doubled_limits(found, committed, kDtypes), ElementsAre(HasSubstr(by)));
      epsilon = nullptr;
      EXPECT_THAT(doubled_limits(found, committed, kDtypes), ElementsAre(HasSubstr("no error")));
    }
}

// A result of the program with one figure changed.
TEST(VacuityGate, RefusesWhatAZeroWouldPass) {
  const Folder folder;
  const Ran ran = ringcheck({"verify", "--case", "ring:p2p/headtail/causal/P2/s40/d16/bf16",
                             "--json", folder.file("json")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json right = json::parse(read_text(folder.file("json")));
  EXPECT_THAT(vacuous(right), IsEmpty());
  const auto parity = [](const json& oracle) { return oracle["name"] == "parity"; };
  for (size_t tensor = 0; tensor < 5; ++tensor) {
    json result = right;
    json& oracle = first(result["cases"][0]["oracles"], parity);
    json& verdict = oracle["tensors"][tensor];
    verdict["vacuity"] = 0.0201;
    EXPECT_EQ(vacuous(result).size(), 1U);
    verdict["vacuity"] = "nan";
    EXPECT_EQ(vacuous(result).size(), 1U);
    verdict["vacuity"] = 0;
    verdict["verdict"] = "not_applicable";  // of data that has a signal there
    EXPECT_EQ(vacuous(result).size(), 1U);
    oracle["tensors"].erase(tensor);
    EXPECT_THAT(vacuous(result), ElementsAre(HasSubstr("is not judged")));
  }
}

// And one in which a zero would pass: flat scores and positive values in 16 bits.
TEST(VacuityGate, RefusesACaseThatShowsNothing) {
  const Folder folder;
  const Ran ran = ringcheck({"verify", "--case",
                             "ring:p2p/headtail/full/P2/hq1/hkv1/s64/d16/dv16/bf16/uniform",
                             "--json", folder.file("json")});
  EXPECT_EQ(ran.code, 6) << ran.out << ran.err;
  EXPECT_THAT(vacuous(json::parse(read_text(folder.file("json")))),
              ElementsAre(HasSubstr("dq (inconclusive")));
}

}  // namespace
}  // namespace ringcheck::testing
