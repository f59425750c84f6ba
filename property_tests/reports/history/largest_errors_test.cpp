// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/history/run.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

json committed(const std::string& name) {
  std::ifstream stream(RINGCHECK_SOURCE_DIR "/reports/results/" + name);
  return json::parse(stream);
}

// Of all series of this name and these parts, the only value.
double value_of(const Run& run, const std::string& name, const json& parts) {
  const auto found = std::find_if(run.points.begin(), run.points.end(), [&](const Run::Point& point) {
    return point.name == name && json::parse(point.parts) == parts;
  });
  if (found == run.points.end()) throw std::out_of_range(name + " of " + parts.dump());
  return found->median;
}

TEST(LargestErrors, OfASummaryAreThoseItHas) {
  const json summary = committed("h200_gpu1_smoke.summary.json");
  const reports::Run run = run_of(summary);
  EXPECT_EQ(run.kind, Kind::kVerify);
  EXPECT_EQ(run.summary.passed, summary["summary"]["passed"].get<int64_t>());
  EXPECT_EQ(run.summary.skipped, summary["summary"]["skipped"].get<int64_t>());
  EXPECT_TRUE(run.verdicts.empty());
  EXPECT_EQ(value_of(run, "largest error / bound",
                     {{"kernel", "wgmma"}, {"dtype", "bf16"}, {"tensor", "dq"}, {"selection", "cases of profile smoke"}}),
            summary["largest_of_passed"]["wgmma bf16 dq"]["hard_ratio"].get<double>());
}

TEST(LargestErrors, OfAResultAreThoseOfItsPassedCases) {
  json result = committed("cpu_smoke.json");
  result["cases"][0]["verdict"] = "fail";  // what fails is not among them
  result["summary"]["passed"] = result["summary"]["passed"].get<int64_t>() - 1;
  result["summary"]["failed"] = 1;
  for (json& oracle : result["cases"][0]["oracles"])
    for (json& tensor : oracle["tensors"]) tensor["max_z"] = 1e6;
  double largest = 0;
  for (const json& test : result["cases"])
    for (const json& oracle : test["oracles"])
      for (const json& tensor : oracle["tensors"])
        if (test["verdict"] == "pass" && test["parts"]["kernel"] == "plain" && test["parts"]["dtype"] == "bf16" &&
            tensor["tensor"] == "dk")
          largest = std::max(largest, tensor["max_z"].get<double>());
  EXPECT_EQ(value_of(run_of(result), "largest error in sigmas",
                     {{"kernel", "plain"}, {"dtype", "bf16"}, {"tensor", "dk"}, {"selection", "cases of profile smoke"}}),
            largest);
}

// The share that could be zero unnoticed is of what passed: of what nobody judged it may be all.
TEST(LargestErrors, NothingThatPassedIsBlindBeyondTheLimit) {
  const json result = committed("cpu_smoke.json"), summary = committed("h200_gpu1_smoke.summary.json");
  double unjudged = 0;
  for (const json& test : result["cases"])
    for (const json& oracle : test["oracles"])
      for (const json& tensor : oracle["tensors"])
        if (tensor["verdict"] != "pass") unjudged = std::max(unjudged, tensor["vacuity"].get<double>());
  ASSERT_GT(unjudged, 0.02);
  for (const reports::Run& run : {run_of(result), run_of(summary)}) {
    int seen = 0;
    for (const reports::Run::Point& point : run.points) {
      if (point.name != "largest blind share") continue;
      EXPECT_LE(point.median, 0.02) << point.parts;
      ++seen;
    }
    EXPECT_GT(seen, 0);
  }
  int seen = 0;
  for (const reports::Run::Verdict& test : run_of(result).verdicts) {
    EXPECT_LE(test.vacuity.value_or(0), 0.02) << test.name;
    seen += test.vacuity.has_value();
  }
  EXPECT_GT(seen, 0);
}

TEST(LargestErrors, BadSummariesAreRefused) {
  for (const char* member : {"environment", "summary", "largest_of_passed"}) {
    json broken = committed("h200_gpu1_smoke.summary.json");
    broken[member] = json::array({3});
    EXPECT_THROW(run_of(broken), std::invalid_argument) << member;
  }
}

}  // namespace
}  // namespace ringcheck::reports
