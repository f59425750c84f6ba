// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parity/case/case_space.h"
#include "parity/case/simpler.h"

// Batch entries that hold different numbers of tokens, as cases say it.
namespace ringcheck::parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kText =
    "ring:p2p/headtail/plain/causal/thread/cpu/P2/b3/lengths:16+9+1/hq4/hkv2/s16/d8/dv8/float32/"
    "rope:none/scale:default/spread3/seed1";

TEST(LengthsText, IsPartOfACaseThatHasThem) {
  const Case test = parse_case(kText);
  EXPECT_THAT(test.lengths, ElementsAre(16, 9, 1));
  EXPECT_EQ(to_text(test), kText);
  EXPECT_EQ(case_from_json(to_json(test)), test);
}

// Texts of committed results stay what they were.
TEST(LengthsText, IsNoPartOfOthers) {
  const Case test = parse_case("b3/s16");
  EXPECT_TRUE(test.lengths.empty());
  EXPECT_THAT(to_text(test), ::testing::Not(HasSubstr("lengths")));
  EXPECT_FALSE(to_json(test).contains("lengths"));
}

TEST(LengthsText, SaysBatchAndSeqWhereNobodyElseDoes) {
  const Case test = parse_case("lengths:3+12");
  EXPECT_EQ(test.batch, 2);
  EXPECT_EQ(test.seq, 12);
}

TEST(LengthsText, IsRefusedWhereItContradictsTheRest) {
  const std::pair<const char*, const char*> wrong[] = {
      {"lengths:3+12/b3", "batch is 3"},        {"lengths:3+12/s16", "seq is 16"},
      {"lengths:3+12/s9", "seq is 9"},          {"lengths:12+12", "leave them out"},
      {"lengths:-1+12", "0 to seq"},            {"lengths:12", "one batch entry"},
      {"lengths:3+x", "not a size"},            {"lengths:3+12/doc[7,5]/s12", "packed documents"},
      {"lengths:8+12/snap/full/scale:0.25", "2^k keys"}};
  for (const auto& [text, says] : wrong) try {
      parse_case(text);
      ADD_FAILURE() << text;
    } catch (const BadCase& error) {
      EXPECT_THAT(error.what(), HasSubstr(says)) << text;
    }
}

TEST(Lengths, NeighboursOfOneLengthAreTakenTogether) {
  const std::vector<Entries> list = entries_of(parse_case("lengths:7+7+12+0+12"));
  std::vector<int64_t> firsts, counts, lengths;
  for (const Entries& some : list) {
    firsts.push_back(some.first);
    counts.push_back(some.count);
    lengths.push_back(some.mask.length);
  }
  EXPECT_THAT(firsts, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(counts, ElementsAre(2, 1, 1, 1));
  EXPECT_THAT(lengths, ElementsAre(7, 12, 0, 12));
}

TEST(Lengths, SimplerCasesAreValid) {
  const Case test = parse_case("P2/lengths:9+16+1/hq2/hkv1/d8/float32");
  for (const Case& next : simpler(test)) {
    validate(next);
    EXPECT_EQ(parse_case(to_text(next)), next);
  }
}

// Of the batches of several entries and without documents about half, and no other case; what else a
// space draws is what it drew without them.
TEST(Lengths, AreDrawnForSomeBatches) {
  Ranges none = smoke_ranges();
  none.padded_one_in = 0;
  const CaseSpace with(smoke_ranges(), "cpu"), without(none, "cpu");
  const Draw draw = drawn_from(7), again = drawn_from(7);
  int padded = 0, empty = 0, first = 0;
  for (int i = 0; i < 600; ++i) {
    Case test = with.build(with.choose(draw), draw);
    const Case other = without.build(without.choose(again), again);
    validate(test);
    if (!test.lengths.empty()) {
      ++padded;
      empty += std::ranges::count(test.lengths, 0) > 0;
      first += test.lengths.front() < test.seq;
    }
    test.lengths.clear();  // with which another kernel or strategy may have to answer
    static_cast<Method&>(test) = other;
    EXPECT_EQ(to_text(test), to_text(other));
  }
  EXPECT_GT(padded, 30);
  EXPECT_GT(empty, 5);
  EXPECT_GT(first, 10);
}

}  // namespace
}  // namespace ringcheck::parity
