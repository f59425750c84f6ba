// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ringcheck {
namespace {

using testing::HasSubstr;

// There are values, none twice, and every one of them is canonical.
TEST(Strategies, ValuesAreCanonical) {
  ASSERT_FALSE(Strategies::all().empty());
  for (const auto& [name, strategy] : Strategies::all()) {
    std::vector<std::string> values = strategy.values();
    ASSERT_FALSE(values.empty()) << name;
    for (const std::string& value : values) EXPECT_EQ(strategy.canonical(value), value) << name;
    std::ranges::sort(values);
    EXPECT_EQ(std::ranges::adjacent_find(values), values.end()) << name;
  }
}

// canonical(canonical(x)) = canonical(x), also where nothing is said; that is one of the values.
TEST(Strategies, CanonicalIsIdempotent) {
  for (const auto& [name, strategy] : Strategies::all()) {
    const std::string once = strategy.canonical("");
    EXPECT_EQ(strategy.canonical(once), once) << name;
    EXPECT_THAT(strategy.values(), testing::Contains(once)) << name;
  }
}

// What a strategy does not know it refuses, with the value and what there is or what to write.
TEST(Strategies, UnknownArgumentsAreRefused) {
  for (const auto& [name, strategy] : Strategies::all())
    for (const std::string text :
         {":spiral", "p2p", ":", ":p2p[", ":p2p[keep]", ":allgather[keep][keep]", "[keep]"})
      try {
        strategy.canonical(text);
        ADD_FAILURE() << name << text << " was taken";
      } catch (const std::invalid_argument& error) {
        const std::string said = text.starts_with(':') ? text.substr(1, text.find('[') - 1) : text;
        EXPECT_THAT(error.what(), HasSubstr(said));
        EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("known: "), HasSubstr("; use "),
                                                 HasSubstr("the only option is ")));
      }
}

// same_bits is symmetric, names values only, and never the text itself.
TEST(Strategies, SameBitsIsSymmetric) {
  for (const auto& [name, strategy] : Strategies::all()) {
    const std::vector<std::string> values = strategy.values();
    for (const std::string& value : values)
      for (const std::string& other : strategy.same_bits(value)) {
        EXPECT_NE(other, value) << name;
        EXPECT_THAT(values, testing::Contains(other)) << name;
        EXPECT_THAT(strategy.same_bits(other), testing::Contains(value)) << name;
      }
  }
}

// One of those that give the same bits stands for all of them, itself included.
TEST(Strategies, OneStandsForThoseOfTheSameBits) {
  for (const auto& [name, strategy] : Strategies::all())
    for (const std::string& value : strategy.values()) {
      const std::string one = strategy.representative(value);
      if (one != value) {
        EXPECT_THAT(strategy.same_bits(value), testing::Contains(one)) << name;
      }
      EXPECT_EQ(strategy.representative(one), one) << name;
    }
}

// A row is merged from one partial result at least, and a world of one has nothing to merge.
TEST(Strategies, PartialsAreCounted) {
  for (const auto& [name, strategy] : Strategies::all()) {
    EXPECT_EQ(strategy.partials(1), 1) << name;
    for (const int world : {2, 5, 8}) EXPECT_GE(strategy.partials(world), 1) << name;
    EXPECT_FALSE(strategy.says.empty()) << name;
  }
}

// The ring: every rotation in the order of their names, [keep] behind the plain form.
TEST(Strategies, TheRingTakesItsRotations) {
  const StrategyEntry& ring = Strategies::at("ring");
  EXPECT_THAT(ring.values(),
              testing::ElementsAre(":allgather", ":allgather[keep]", ":alltoall", ":p2p"));
  EXPECT_EQ(ring.canonical(""), ":alltoall");
  EXPECT_EQ(ring.partials(7), 7);
  EXPECT_EQ(ring.same_bits(":p2p").size(), ring.values().size() - 1);
}

// Ulysses: whole heads, so nothing is merged, and as many for every group of every rank.
TEST(Strategies, UlyssesTakesANumberOfGroups) {
  const StrategyEntry& ulysses = Strategies::at("ulysses");
  EXPECT_THAT(ulysses.values(), testing::ElementsAre("", "[2]"));
  EXPECT_EQ(ulysses.canonical("[1]"), "");
  EXPECT_EQ(ulysses.canonical("[04]"), "[4]");
  EXPECT_THROW(ulysses.canonical("[0]"), std::invalid_argument);
  EXPECT_THROW(ulysses.canonical(":p2p"), std::invalid_argument);
  EXPECT_EQ(ulysses.partials(7), 1);
  EXPECT_EQ(ulysses.heads_unit("", 7), 7);
  EXPECT_EQ(ulysses.heads_unit("[2]", 7), 14);
}

// Gathered: how many groups the heads go into, or as many as it thinks best.
TEST(Strategies, GatheredTakesANumberOfGroups) {
  const StrategyEntry& gathered = Strategies::at("gathered");
  EXPECT_THAT(gathered.values(), testing::ElementsAre(""));
  EXPECT_EQ(gathered.canonical("[08]"), "[8]");
  for (const char* wrong : {"[0]", "[-1]", "[]", "[two]", "[1", "[1]]", "[1 ]", "[99999999999999999999]"})
    EXPECT_THROW(gathered.canonical(wrong), std::invalid_argument) << wrong;
  EXPECT_EQ(gathered.heads_unit("", 7), 1);
}

}  // namespace
}  // namespace ringcheck
