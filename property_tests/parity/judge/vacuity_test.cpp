// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// No check counts that a zero could pass: for less than 2 % of the energy of every judged tensor of
// the smoke profile it would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/parity/faults/detection_gate.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;

class Vacuity : public ::testing::TestWithParam<const char*> {};

TEST_P(Vacuity, IsBelowTwoPercent) {
  const Folder folder;
  const Ran ran = ringcheck({"verify", "--profile", "smoke", "--world-kind", "thread", "--dtype",
                             GetParam(), "--json", folder.file("json")});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const json result = json::parse(read_text(folder.file("json")));
  EXPECT_GT(result.at("cases").size(), 50U);
  EXPECT_THAT(vacuous(result), ::testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Vacuity, 
                         ::testing::Values("float64", "float32", "bf16", "fp16"));

}  // namespace
}  // namespace ringcheck::testing
