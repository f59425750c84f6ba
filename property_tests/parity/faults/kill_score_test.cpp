// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracles of this build kill no fewer planted bugs than the committed result says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/parity/faults/detection_gate.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;

json hunted(const std::string& dtype, const std::string& oracles, int code) {
  const Folder folder;
  const Ran ran =
      ringcheck({"faults", "--dtype", dtype, "--oracles", oracles, "--json", folder.file("json")});
  EXPECT_EQ(ran.code, code) << ran.out << ran.err;
  return json::parse(read_text(folder.file("json")));
}

class KillScore : public ::testing::TestWithParam<const char*> {};

TEST_P(KillScore, IsNoLower) {
  const std::string dtype = GetParam();
  // The self-test of the judging is met, the same cases without a bug are clean, and no fault of the
  // judging is alive.
  const json matrix = hunted(dtype, "all", 0);
  EXPECT_THAT(lost_kills(matrix, committed_result("cpu_faults.json"), dtype),
              ::testing::IsEmpty());
  const json& score = own_part(matrix).at("score");
  const int killed = score.at("killed"), localised = score.at("localised");
  EXPECT_GT(killed, 0);
  EXPECT_GE(10 * localised, 9 * killed);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, KillScore,
                         ::testing::Values("float64", "float32", "bf16", "fp16"));

// A build that judges less is refused, by itself too: faults of the judging survive.
TEST(KillGate, RefusesARunWithoutMostOracles) {
  const json matrix = hunted("bf16", "counters", 1);
  EXPECT_GT(lost_kills(matrix, committed_result("cpu_faults.json"), "bf16").size(), 50U);
}

}  // namespace
}  // namespace ringcheck::testing
