// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A judging that is wrong ends the run before it says anything of a case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

const Words kCase{"verify", "--case", "ring:p2p/contiguous/causal/P2/s40/d16/bf16"};

Words and_also(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void expect_refused(const Ran& ran, const std::string& what) {
  EXPECT_EQ(ran.code, 70) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("self-test: "));
  EXPECT_THAT(ran.err, HasSubstr(what));
  EXPECT_THAT(ran.out, Not(HasSubstr("passed")));
}

TEST(WrongJudging, EndsASupervisedRun) {
  expect_refused(ringcheck(and_also(kCase, {"--plant-in-judging", "nan_compares_equal"})),
                 "replaced: NaN");
  expect_refused(ringcheck({"verify", "--case", "ring:p2p/P2/s40/d16/mpi", "--plant-in-judging",
                            "tolerance_times_1000"}),
                 "beyond its bound");
}

TEST(WrongJudging, EndsALaunchedRun) {
  Words words{"/usr/bin/env", "mpirun", "-n", "2", ringcheck_program()};
  words = and_also(words,
                   {"verify", "--seq", "40", "--dim", "16", "--plant-in-judging", "prints_passed"});
  expect_refused(Running(words, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                 {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                 {"OMPI_MCA_rmaps_base_oversubscribe", "1"}})
                     .wait(),
                 "accepted");
}

// Only the oracles about to be asked are examined.
TEST(WrongJudging, IsThatOfTheOraclesAsked) {
  const Words blind{"--oracles", "counters", "--plant-in-judging", "nan_compares_equal"};
  const Ran ran = ringcheck(and_also(kCase, blind));
  EXPECT_EQ(ran.code, 6) << ran.err;  // counters alone make no pass
  EXPECT_THAT(ran.err, Not(HasSubstr("self-test")));
}

TEST(WrongJudging, NothingIsSaidOfARightOne) {
  const Ran ran = ringcheck(kCase);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("self-test")));
}

TEST(WrongJudging, AFaultOfAnotherKindIsRefused) {
  for (const char* fault : {"length_rounded_down", "no_such_fault"}) {
    const Ran ran = ringcheck(and_also(kCase, {"--plant-in-judging", fault}));
    EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(fault));
  }
}

// Alive, as no oracle is asked that could notice; noticed by all.
TEST(WrongJudging, FailsTheHuntWhereItSurvives) {
  const Words hunt{"faults", "--fault", "harness", "--dtype", "float64", "--oracles"};
  const Ran blind = ringcheck(and_also(hunt, {"counters"}));
  EXPECT_EQ(blind.code, 1) << blind.out << blind.err;
  const Ran seeing = ringcheck(and_also(hunt, {"all"}));
  EXPECT_EQ(seeing.code, 0) << seeing.out << seeing.err;
}

// One key leaves no energy to dQ and dK, so that nobody can judge them.
TEST(Report, SaysHowManyTensorsOfRanksNobodyJudged) {
  const Words one_token{"verify", "--case", "ring:p2p/contiguous/causal/P1/s1/d16/bf16"};
  const Ran blind = ringcheck(one_token);
  EXPECT_THAT(blind.out, HasSubstr("Judged by nobody: 2 of 5 tensors of ranks: dk 1, dq 1"));
  const Ran seeing = ringcheck(kCase);
  EXPECT_THAT(seeing.out, HasSubstr("All 10 tensors of ranks (o, lse, dq, dk and dv) were judged."));
}

// Not RoPE's, in a case without: what was asked for by name was not answered, though the case passes.
TEST(Report, AnOracleAskedForThatAppliedToNoCaseIsNoPass) {
  const Ran idle = ringcheck(and_also(kCase, {"--oracles", "parity,rope-norms"}));
  EXPECT_EQ(idle.code, 6) << idle.err;
  EXPECT_THAT(idle.out, HasSubstr("1 passed"));
  EXPECT_THAT(idle.out, HasSubstr("oracle rope-norms applied to no case: nothing is rotated"));
  EXPECT_EQ(ringcheck(and_also(kCase, {"--oracles", "all"})).code, 0);
  const std::string rotated = kCase.back() + "/rope:half[10000]";
  const Ran applied = ringcheck({"verify", "--case", kCase.back(), "--case", rotated, "--oracles", "parity,rope-norms"});
  EXPECT_EQ(applied.code, 0) << applied.out << applied.err;
}

// No kernel can be right where its dtype has no such number, and whoever reads the failure is told.
TEST(NumbersBeyondTheDtype, AreSaidToBe) {
  const std::string gradient = "ring:p2p/full/P2/hq64/hkv1/s16/d8/dv256/wide/scale:1/seed1/";
  const Ran half = ringcheck({"verify", "--case", gradient + "fp16"});
  EXPECT_EQ(half.code, 1) << half.out << half.err;
  EXPECT_THAT(half.out, HasSubstr("65504"));
  const Ran bf16 = ringcheck({"verify", "--case", gradient + "bf16"});
  EXPECT_EQ(bf16.code, 0) << bf16.out << bf16.err;
}

}  // namespace
}  // namespace ringcheck::testing
