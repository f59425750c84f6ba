// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists of cases contain what is rare, and say so where they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "parity/case/case_space.h"
#include "parity/case/conditions/coverage.h"

namespace ringcheck::parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Cases = std::vector<Case>;

Condition dtype_is(const std::string& name) {
  return {"dtype " + name, Condition::Rank::kUsual,
          [=](const Facts& f) { return f.traits.at("dtype") == name; }, "dtype"};
}
Condition has_batch(int64_t batch, Condition::Rank rank) {
  return {"batch " + std::to_string(batch), rank,
          [=](const Facts& f) { return f.test.batch == batch; }};
}

// Two dtypes, a dangerous batch and one that is not.
const Combinations& few() {
  static const Combinations combinations({dtype_is("bf16"), dtype_is("fp16"),
                                          has_batch(3, Condition::Rank::kDangerous),
                                          has_batch(2, Condition::Rank::kUsual)});
  return combinations;
}

Cases cases_of(const std::vector<std::string>& texts) {
  Cases cases;
  for (const std::string& text : texts)
    cases.push_back(parse_case(text));
  return cases;
}

TEST(Cover, TakesTheRareCaseAndLeavesTheRepeated) {
  const Cases pool = cases_of(
      {"bf16/s16/seed1", "bf16/s16/seed2", "bf16/s16/seed3", "fp16/s16/b3", "bf16/s16/b3"});
  Cover cover(few(), {.each = 1, .pair = 1});
  cover.choose(pool, 5);
  EXPECT_THAT(cover.cases(), ElementsAre(pool[3], pool[4]));
}

TEST(Cover, TakesAsManyAsAreWantedAndNoneTwice) {
  const Cases pool = cases_of({"bf16/seed1", "bf16/seed2", "bf16/seed3", "bf16/seed4"});
  Cover cover(few(), {.each = 3, .pair = 1});
  cover.add(pool[0]);
  cover.choose({pool.begin() + 1, pool.end()}, 10);
  EXPECT_THAT(cover.cases(), ElementsAre(pool[0], pool[1], pool[2]));
  Cover little(few(), {.each = 3, .pair = 1});
  little.choose(pool, 1);
  EXPECT_THAT(little.cases(), ElementsAre(pool[0]));
}

TEST(Cover, PrefersWhatCostsLess) {
  const Cases pool = cases_of({"bf16/s2000", "bf16/s20"});
  Cover cover(few(), {.each = 1, .pair = 1});
  cover.choose(pool, 2);
  EXPECT_THAT(cover.cases(), ElementsAre(pool[1]));
}

TEST(Coverage, CountsAndNamesWhatIsMissed) {
  const Cases pool = cases_of({"bf16/b3", "fp16/b3", "bf16/b2", "fp16/b2"});
  const Coverage met = coverage_of(pool, pool, few(), {.each = 2, .pair = 1});
  EXPECT_TRUE(met.is_met());
  EXPECT_EQ(met.pairs, 2);  // the dangerous batch with either dtype
  const Cases without(pool.begin() + 1, pool.end());
  const Coverage pair = coverage_of(without, pool, few(), {.each = 1, .pair = 1});
  EXPECT_FALSE(pair.is_met());
  EXPECT_THAT(pair.missed_pairs, ElementsAre("dtype bf16 with batch 3"));
  EXPECT_TRUE(std::ranges::all_of(pair.rows, &Coverage::Row::is_met));
  const Coverage each = coverage_of(without, without, few(), {.each = 2, .pair = 1});
  EXPECT_FALSE(each.is_met());
  EXPECT_THAT(each.missed_pairs, IsEmpty());
  EXPECT_FALSE(each.rows[0].is_met());
  EXPECT_TRUE(each.rows[1].is_met());
}

TEST(Coverage, WantsAPairAsOftenAsItCanBe) {
  const Cases pool = cases_of({"bf16/b3"});
  EXPECT_THAT(coverage_of(pool, pool, few(), {.each = 0, .pair = 3}).missed_pairs, IsEmpty());
}

// One key, a vanishing score or data without a gradient: nothing that is dangerous could be seen.
TEST(Combinations, WhatIsDangerousIsMetWhereItCanBeSeen) {
  const Combinations::Met seen = few().met_by(parse_case("bf16/b3"));
  EXPECT_TRUE(seen.telling);
  EXPECT_THAT(seen.all, ElementsAre(0, 2));
  for (const char* quiet : {"window[1]", "s1", "scale:0", "census", "doc[1,1,1]", "doc[0:9,1]"}) {
    const Combinations::Met met = few().met_by(parse_case(std::string("bf16/b3/") + quiet));
    EXPECT_FALSE(met.telling) << quiet;
    EXPECT_THAT(met.all, ElementsAre(0)) << quiet;
    few().each_pair(met, [&](size_t pair) { ADD_FAILURE() << few().pair_text(pair); });
  }
  for (const char* telling : {"window[2]", "s2", "scale:0.001", "wide", "doc[0:9,2]"})
    EXPECT_TRUE(few().met_by(parse_case(telling)).telling) << telling;
}

TEST(Combinations, TheWorstAreWantedWithTwoValuesOfParts) {
  Conditions rows = conditions_of("cpu");
  const Combinations all(rows);
  const auto triples_of = [&](const std::string& text) {
    size_t count = 0;
    all.each_triple(all.met_by(parse_case(text)), [&](size_t) { ++count; });
    return count;
  };
  EXPECT_EQ(triples_of("b2"), 0U);
  EXPECT_EQ(triples_of("b3"), 10U);  // two of mask, balance, strategy, dtype and kernel
}

// Which dangerous conditions cannot meet which value of a part, by name.
struct Impossible {
  const char *condition, *value;
};
constexpr Impossible kImpossible[] = {
    {"window.*", "mask (full|causal|doc|docfull|prefix)"},
    {"prefix.*", "mask (full|causal|window|doc|docfull)"},
    {".*document.*", "mask (full|causal|window|prefix)"},
    // Stripes of one token have no inside, so nothing has its edge on theirs.
    {"(window|prefix|a document).*(block|blocks).*", "balance striped\\[1\\]"},
    {".*stripes.*", "balance (contiguous|headtail|striped\\[1\\])"},
    {"a shard of one slot", "balance (headtail|striped\\[(3|16)\\])"},
    {"a shard of odd length", "balance (headtail|striped\\[16\\])"},
    {"a piece of pads.*", "balance (contiguous|striped\\[1\\])"},
    {"dim-v (above|below) dim", "kernel flash"},
    {"dim 128, flash, .*", "kernel plain"},
    {"dim 128, plain, .*", "kernel flash"},
    {"dim 128, .*, float64", "dtype (float32|bf16|fp16)"},
    {"dim 128, .*, float32", "dtype (float64|bf16|fp16)"},
    {"dim 128, .*, bf16", "dtype (float64|float32|fp16)"},
    {"dim 128, .*, fp16", "dtype (float64|float32|bf16)"},
};

bool is_impossible(const std::string& condition, const std::string& value) {
  return std::ranges::any_of(kImpossible, [&](const Impossible& row) {
    return std::regex_match(condition, std::regex(row.condition)) &&
           std::regex_match(value, std::regex(row.value));
  });
}

// What the profiles choose from has each of the worst conditions with every mask, balancer,
// strategy, dtype and kernel that there can be, and no dangerous one where there cannot.
TEST(Coverage, WhatIsDrawnHasEveryPairThatCanBe) {
  const Combinations all(conditions_of("cpu"));
  const CaseSpace space(smoke_ranges(), "cpu");
  const Draw draw = drawn_from(1);
  std::set<std::string> met;
  for (int i = 0; i < 6000; ++i)
    all.each_pair(all.met_by(space.build(space.choose(draw), draw)),
                  [&](size_t pair) { met.insert(all.pair_text(pair)); });
  const std::set<std::string> crossed{"mask", "balance", "strategy", "dtype", "kernel"};
  std::vector<std::string> lacking, surprising;
  for (const Condition& value : all.conditions())
    for (const Condition& row : all.conditions()) {
      const bool is_dangerous =
          row.rank == Condition::Rank::kDangerous || row.rank == Condition::Rank::kWorst;
      if (!crossed.contains(value.part) || !is_dangerous)
        continue;
      const std::string text = value.name + " with " + row.name;
      const bool impossible = is_impossible(row.name, value.name);
      if (met.contains(text) && impossible)
        surprising.push_back(text);
      if (!met.contains(text) && !impossible && row.rank == Condition::Rank::kWorst)
        lacking.push_back(text);
    }
  EXPECT_THAT(lacking, IsEmpty());
  EXPECT_THAT(surprising, IsEmpty());
}

}  // namespace
}  // namespace ringcheck::parity
