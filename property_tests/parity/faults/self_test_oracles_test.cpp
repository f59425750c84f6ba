// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The self-test before every run sees what is wrong with an oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "parity/faults/self_test/known_relations.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/judge/device_test.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/faults/said.h"

namespace ringcheck::parity {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// An oracle that passes everything is seen, whichever it is.
TEST(SelfTest, SeesAnyOracleThatPassesEverything) {
  for (const std::string& name : all_oracles()) {
    const SelfTest test =
        self_test(at::kDouble, {name}, [](const Oracle& oracle, const Evidence& evidence) {
          OracleVerdict verdict = oracle.judge(evidence);
          if (verdict.status == Status::kFail)
            verdict.status = Status::kPass;
          return verdict;
        });
    EXPECT_FALSE(test.failures.empty()) << name;
  }
}

TEST(SelfTest, SeesAnOracleThatSaysNothing) {
  const auto silent = [](const Oracle&, const Evidence&) {
    return said(Status::kNotApplicable);
  };
  for (const std::string& name : all_oracles())
    EXPECT_THAT(self_test(at::kDouble, {name}, silent).failures, Not(IsEmpty())) << name;
}

// Of one tensor that it claims, whichever.
TEST(SelfTest, SeesAnOracleThatComparesLessThanAll) {
  for (const std::string& name : all_oracles()) {
    std::set<std::string> counted, seen;
    const auto fewer_of = [&](const std::string& tensor) {
      return self_test(at::kDouble, {name}, [&](const Oracle& oracle, const Evidence& evidence) {
        OracleVerdict verdict = oracle.judge(evidence);
        for (TensorVerdict& of : verdict.tensors) {
          if (of.compared > 0)
            counted.insert(of.tensor);
          if (of.tensor == tensor)
            --of.compared;
        }
        return verdict;
      });
    };
    fewer_of("");
    for (const std::string& tensor : counted)
      EXPECT_THAT(fewer_of(tensor).failures, Contains(HasSubstr("elements of " + tensor)))
          << name;
  }
}

// Of each relation of ours it is known what it asks for and what it looks at.
TEST(SelfTest, KnowsEveryRelation) {
  for (const std::string& name : all_oracles())
    EXPECT_EQ(is_known_relation(name), static_cast<bool>(Oracles::at(name).variations)) << name;
}

// A relation that looks at its last run alone, or at all but the last.
TEST(SelfTest, SeesARunThatIsIgnored) {
  int relations = 0;
  for (const std::string& name : all_oracles())
    for (const bool last : {false, true}) {
      std::vector<Outcome> clean;
      const SelfTest test =
          self_test(at::kDouble, {name}, [&](const Oracle& oracle, const Evidence& e) {
            if (clean.size() != e.variations.size())
              clean = e.variations;
            std::vector<Outcome> seen = e.variations;
            if (!seen.empty())
              (last ? seen.back() : seen.front()) = last ? clean.back() : clean.front();
            return oracle.judge({e.test, e.subject, e.problem, e.outcome, seen, e.tick});
          });
      // These two look at what their runs count.
      if (!Oracles::at(name).variations || name == "other-values" || name == "memory-growth")
        continue;
      ++relations;
      EXPECT_THAT(test.failures, Not(IsEmpty())) << name << (last ? ", the last" : ", the first");
    }
  EXPECT_GE(relations, 50);
}

// What is farther off than it may be, and what is not.
TEST(SelfTest, HoldsOraclesToTheirLimits) {
  SelfTest clean, blind, strict;
  examine_limits(all_oracles(), judge_plainly, clean);
  EXPECT_THAT(clean.failures, IsEmpty());
  EXPECT_GE(clean.demands, 50);
  const auto always = [](Status status) { return [=](const Oracle&, const Evidence&) { return said(status); }; };
  examine_limits({"routing"}, always(Status::kPass), blind);
  EXPECT_THAT(blind.failures, Contains(HasSubstr("routing accepts a row of lse")));
  examine_limits({"routing"}, always(Status::kFail), strict);
  EXPECT_THAT(strict.failures, Contains(HasSubstr("routing refuses a row of lse")));
}

// A further run that is the run of the case again.
TEST(SelfTest, SeesAFurtherRunThatIsTheSame) {
  const Case test = parse_case("causal/P3/b2/hq4/hkv2/s15/d4/dv6/float64");
  SelfTest same, other;
  examine_runs("value-scale", {parity::Run{test}}, test, same);
  EXPECT_THAT(same.failures, Contains(HasSubstr("is that of the case again")));
  examine_runs("value-scale", Oracles::at("value-scale").variations(test), test, other);
  EXPECT_THAT(other.failures, IsEmpty());
}

// The last rank, and each other, left out of the counters.
TEST(SelfTest, SeesARankWhoseCountersAreSkipped) {
  for (size_t rank = 0; rank < 3; ++rank) {
    Outcome clean;
    const SelfTest test =
        self_test(at::kDouble, {"counters"}, [&](const Oracle& oracle, const Evidence& e) {
          if (clean.ranks.empty())
            clean = e.outcome;
          Outcome seen = e.outcome;
          seen.ranks.at(rank) = clean.ranks.at(rank);
          return oracle.judge({e.test, e.subject, e.problem, seen, e.variations, e.tick});
        });
    EXPECT_THAT(test.failures, Contains(HasSubstr("of rank " + std::to_string(rank)))) << rank;
  }
}

TEST(SelfTest, ThrowsWhereTheJudgingIsWrong) {
  for (const auto& [name, fault] : Faults::all())
    if (fault.judging) {
      EXPECT_THROW(test_before({}, {oracles_of_one_run()}, fault.judging()), SelfTestFailed) << name;
    }
}

}  // namespace
}  // namespace ringcheck::parity
