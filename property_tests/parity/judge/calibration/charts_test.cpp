// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Charts are of what is right, and of nothing that leans.
#include "parity/judge/calibration/charts.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "parity/faults/decorators/subject.h"

namespace ringcheck::parity {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Case in(const char* dtype) {
  return parse_case(std::string("causal/P2/hq2/hkv1/s64/d16/dv16/") + dtype);
}

// What it refuses with; empty where it does not.
std::string refusal(const SharedSubject& subject, const char* dtype = "bf16",
                    int seeds = kFewestSeeds) {
  try {
    measured_charts(in(dtype), seeds, *subject);
    return "";
  } catch (const BadCase& error) {
    return error.what();
  }
}

TEST(Charts, OfOursAreOfFourTensors) {
  const auto charts = measured_charts(in("bf16"), kFewestSeeds, *ours());
  EXPECT_EQ(charts.size(), 4U);  // no LSE
  for (const auto& [tensor, chart] : charts) {
    EXPECT_GT(chart.rms_mean, 0) << tensor;
    EXPECT_GT(chart.rms_sd, 0) << tensor;
    EXPECT_LT(chart.bias_mean, kMostBias) << tensor;
  }
}

TEST(Charts, AFewSeedsAreRefused) { EXPECT_THAT(refusal(ours(), "bf16", kFewestSeeds - 1), HasSubstr("19 seeds")); }

// One seed of twenty is wrong, in one element.
TEST(Charts, ASeedThatFailsIsNamed) {
  const SharedSubject wrong = with_output([](RankOutput& output, Communicator& comm, const Case& test) {
    if (comm.rank() == 1 && test.seed == 1007) output.dq[0][1][3][5] += 1;
  });
  EXPECT_THAT(refusal(wrong), AllOf(HasSubstr("seed 1007"), HasSubstr("no pass but fail"), HasSubstr("dq")));
}

// All of O is a little too large: no element is beyond what rounding explains, but all lean to one side.
TEST(Charts, ABiasAboveTheCapIsRefused) {
  const SharedSubject leaning = with_output([](RankOutput& output, Communicator&, const Case& test) {
    output.o = (output.o.to(at::kDouble) * (1 + 0x1p-21)).to(test.dtype);
  });
  EXPECT_EQ(refusal(ours(), "float32"), "");
  EXPECT_THAT(refusal(leaning, "float32"), AllOf(HasSubstr("o has a mean bias of"), HasSubstr("above 8")));
}

// Charts that stand do not matter to those that are measured anew.
TEST(Charts, StandingChartsDoNotMatter) {
  const SharedSubject other = ours_with(context_parallel, [](Promise& promise) {
    for (const char* tensor : {"o", "dq", "dk", "dv"}) promise.charts[tensor] = {9, 0.001, 9, 0.001};
  });
  EXPECT_EQ(refusal(other), "");
}

TEST(Charts, NoneThatIsCommittedIsAboveTheCap) {
  int charted = 0;
  for (const auto& file : std::filesystem::directory_iterator(RINGCHECK_SOURCE_DIR "/kernels")) {
    const std::string name = file.path().filename(), end = ".contract.json";
    if (!name.ends_with(end)) continue;
    const nlohmann::json& contract = contract_json(name.substr(0, name.size() - end.size()));
    for (const auto& [test, charts] : contract.at("charts").items())
      for (const auto& [tensor, chart] : charts.items()) {
        EXPECT_LE(chart.at("bias_mean").get<double>(), kMostBias) << tensor << " " << test;
        ++charted;
      }
  }
  EXPECT_GT(charted, 100);
}

}  // namespace
}  // namespace ringcheck::parity
