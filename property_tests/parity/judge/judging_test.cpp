// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Which oracles a case draws.
#include "parity/judge/judging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "parity/judge/oracle.h"
#include "parity/subject/ours.h"

namespace ringcheck::parity {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

std::vector<Case> some(const std::string& mask) {
  std::vector<Case> cases;
  for (int seed = 1; seed <= 300; ++seed)
    cases.push_back(parse_case("ring:p2p/headtail/" + mask + "/P3/hq2/hkv1/s37/d8/float32/seed" +
                               std::to_string(seed)));
  return cases;
}

// Of the cases to which a relation applies about one in `one_in`, and never none of many.
TEST(Drawn, EveryRelationIsDrawnByItsShareOfTheCases) {
  std::map<std::string, int> drawn, applied;
  for (const char* mask : {"causal", "full"})
    for (const Case& test : some(mask)) {
      for (const std::string& name : drawn_oracles(test, *ours())) ++drawn[name];
      for (const auto& [name, oracle] : Oracles::all())
        if (oracle.variations && !oracle.variations(test).empty()) ++applied[name];
    }
  EXPECT_GE(applied.size(), 25U);
  for (const auto& [name, cases] : applied) {
    const double expected = static_cast<double>(cases) / Oracles::at(name).one_in;
    EXPECT_GT(drawn[name], 0) << name;
    EXPECT_LT(drawn[name], 3 * expected + 1) << name;
  }
}

TEST(Drawn, TheCaseAloneSaysWhich) {
  const Case test = some("causal").front();
  EXPECT_EQ(drawn_oracles(test, *ours()), drawn_oracles(parse_case(to_text(test)), *ours()));
}

TEST(Drawn, NoneWhereACaseIsLarge) {
  for (int seed = 1; seed <= 30; ++seed)
    EXPECT_THAT(drawn_oracles(parse_case("ring:p2p/P2/hq32/hkv8/s8192/d128/bf16/seed" +
                                         std::to_string(seed)),
                              *ours()),
                IsEmpty());
}

TEST(Drawn, BesideThoseThatWereChosenAndOnlyWhereAsked) {
  Judging judging;
  for (const Case& test : some("causal")) {
    EXPECT_EQ(oracles_for(judging, test, *ours()), judging.oracles);
    Judging also = judging;
    also.drawn = true;
    EXPECT_THAT(oracles_for(also, test, *ours()), IsSupersetOf(judging.oracles));
    EXPECT_EQ(oracles_for(also, test, *ours()).size(),
              judging.oracles.size() + drawn_oracles(test, *ours()).size());
  }
}

TEST(Drawn, NoOracleIsAskedTwice) {
  for (const Case& test : some("causal")) {
    Judging judging;
    judging.oracles = drawn_oracles(test, *ours());
    judging.drawn = true;
    EXPECT_EQ(oracles_for(judging, test, *ours()), judging.oracles);
  }
}

}  // namespace
}  // namespace ringcheck::parity
