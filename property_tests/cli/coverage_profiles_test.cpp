// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The profiles of the CPU meet every condition as often as they say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The row of a condition: how many cases, and how many at least.
std::pair<int, int> row_of(const std::string& table, const std::string& condition) {
  std::smatch found;
  if (!std::regex_search(table, found, std::regex("\n  " + condition + " +(\\d+) +(\\d+)")))
    return {-1, -1};
  return {std::stoi(found[1]), std::stoi(found[2])};
}

class ProfileCoverage : public ::testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(ProfileCoverage, AProfileMeetsItsMinima) {
  const auto [profile, least] = GetParam();
  const Ran ran = ringcheck({"verify", "--profile", profile, "--coverage"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("TOO FEW")));
  for (const char* condition :
       {"9 query heads and more", "dim above 96", "batch 3 and more", "query group of 8 and more",
        "scale above 1", "dim 128, flash, fp16"}) {
    const auto [cases, minimum] = row_of(ran.out, condition);
    EXPECT_EQ(minimum, least) << condition;
    EXPECT_GE(cases, minimum) << condition;
  }
  EXPECT_EQ(row_of(ran.out, "RoPE above position 100000").second, least / 10);
}

INSTANTIATE_TEST_SUITE_P(OnTheCpu, ProfileCoverage,
                         ::testing::Values(std::pair("smoke", 3), std::pair("conformance", 10)));

TEST(Coverage, OtherListsAreCountedAndNothingIsWanted) {
  const Ran ran = ringcheck({"verify", "--case", "hq9/hkv9/d128", "--coverage"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(row_of(ran.out, "9 query heads and more"), std::pair(1, 0));
  EXPECT_EQ(row_of(ran.out, "batch 3 and more"), std::pair(0, 0));
}

}  // namespace
}  // namespace ringcheck::testing
