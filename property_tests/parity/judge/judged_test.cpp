// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Nothing counts that shows nothing: who judged which tensor of which rank, and what makes a pass.
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "parity/judge/comparison.h"
#include "parity/judge/judged.h"
#include "parity/judge/observed.h"
#include "parity/judge/relation.h"
#include "parity/judge/truth.h"
#include "parity/subject/world.h"
#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck::parity {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Verdict judged(const std::string& text, std::vector<std::string> oracles = oracles_of_one_run()) {
  RunOptions options;
  options.judging.oracles = std::move(oracles);
  return verify(parse_case(text), options);
}

const TensorVerdict& tensor(const Verdict& verdict, const std::string& name) {
  for (const TensorVerdict& one : oracle(verdict, "parity").tensors)
    if (one.tensor == name) return one;
  throw std::out_of_range(name);
}

OracleVerdict said(About about, Status status) {
  OracleVerdict verdict;
  verdict.about = about;
  verdict.status = status;
  return verdict;
}

// Every document has one token, so every query sees one key: its score changes nothing.
TEST(Judged, AGradientWithoutASignalIsNoPass) {
  const Verdict verdict = judged("ring:p2p/contiguous/doc[1,1,1,1,1,1]/P2/b1/hq2/hkv2/s6/d8/float32");
  EXPECT_EQ(verdict.status, Status::kPass);
  for (const char* name : {"dq", "dk"}) {
    EXPECT_EQ(tensor(verdict, name).status, Status::kNotApplicable) << name;
    EXPECT_THAT(verdict.judged.at(name), Each(JudgedBy::kNobody)) << name;
    EXPECT_THAT(oracle(verdict, "parity").findings, Contains(HasSubstr(name))) << name;
  }
  for (const char* name : {"o", "lse", "dv"}) {
    EXPECT_EQ(tensor(verdict, name).status, Status::kPass) << name;
    EXPECT_THAT(verdict.judged.at(name), Each(JudgedBy::kBounded)) << name;
  }
}

// What has no signal is not allowed to be wrong.
TEST(Judged, AGradientWithoutASignalStillFails) {
  const Verdict verdict = verify_spoilt(
      parse_case("ring:p2p/contiguous/doc[1,1,1,1,1,1]/P2/b1/hq2/hkv2/s6/d8/float32"),
      [](Communicator&, RankOutput& output) { output.dq.add_(0.01); });
  EXPECT_EQ(tensor(verdict, "dq").status, Status::kFail);
  EXPECT_EQ(verdict.status, Status::kFail);
}

// Where the softmax chooses one key, dQ = dK = 0 in every bit, which is more than within bounds.
TEST(Judged, AGradientThatIsExactlyZeroIsJudgedExactly) {
  const Verdict verdict = judged("ring:p2p/headtail/full/P2/b1/hq2/hkv2/s16/d8/bf16/routing");
  EXPECT_EQ(verdict.status, Status::kPass);
  for (const char* name : {"dq", "dk"}) {
    EXPECT_NE(tensor(verdict, name).status, Status::kPass) << name;
    EXPECT_THAT(verdict.judged.at(name), Each(JudgedBy::kExact)) << name;
  }
}

TEST(Judged, ARankWithoutTokensIsNobodys) {
  const Verdict verdict = judged("ring:p2p/contiguous/causal/P4/b1/hq2/hkv2/s2/d8/float32");
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_THAT(verdict.judged.at("o"), ElementsAre(JudgedBy::kBounded, JudgedBy::kBounded,
                                                  JudgedBy::kNoToken, JudgedBy::kNoToken));
}

// Each tensor of each rank with tokens: one rank without its signal is said, beside one that has it.
TEST(Judged, ARankWithoutASignalIsNobodysAloneOfItsTensor) {
  const Verdict verdict = judged("ring:p2p/contiguous/doc[1,1,1,9]/P4/b1/hq2/hkv2/s12/d8/float32");
  EXPECT_THAT(verdict.judged.at("dq"), ElementsAre(JudgedBy::kNobody, JudgedBy::kBounded,
                                                   JudgedBy::kBounded, JudgedBy::kBounded));
}

// Pads beside tokens are no reason not to judge a rank.
TEST(Judged, ARankWithPadsIsJudgedByItsTokens) {
  const Verdict verdict = judged("ring:p2p/contiguous/full/P2/b1/hq2/hkv2/s15/d8/float32");
  for (const char* name : {"o", "lse", "dq", "dk", "dv"})
    EXPECT_THAT(verdict.judged.at(name), Each(JudgedBy::kBounded)) << name;
}

// A rank is named where something of it is off, however little, and nowhere else.
TEST(Judged, WhatIsRightNamesNoRank) {
  const Case test = parse_case("ring:p2p/contiguous/full/P2/b1/hq1/hkv1/s8/d2/float64");
  const at::Tensor value = at::ones({1, 1, 8, 2}, at::kDouble), little = value * 1e-3;
  at::Tensor off = value.clone();
  off[0][0][6][1] += 1e-6;
  EXPECT_EQ(compare(test, "o", value, value, little, little / 8).worst_rank, -1);
  EXPECT_EQ(compare(test, "o", off, value, little, little / 8).worst_rank, 1);
}

// A single byte is a leak, whichever rank's.
TEST(Judged, WhatGrowsIsALeakHoweverLittle) {
  const Case test = parse_case("ring:p2p/contiguous/causal/P2/b1/hq1/hkv1/s8/d4/float64");
  const Problem problem = problem_of(test);
  const Outcome outcome = solve_on_threads({test}, *ours());
  const auto status = [&](std::vector<int64_t> grown) {
    Outcome later = outcome;
    for (size_t rank = 0; rank < grown.size(); ++rank) later.ranks[rank].grown_bytes = grown[rank];
    return Oracles::at("leak").judge({test, *ours(), problem, outcome, {later}, [] {}}).status;
  };
  EXPECT_EQ(status({0, 0}), Status::kPass);
  EXPECT_EQ(status({1, 0}), Status::kFail);
  EXPECT_EQ(status({0, 1}), Status::kFail);
  EXPECT_EQ(status({0, RankRecord::kUnseen}), Status::kNotApplicable);
}

// Equal keys give equal scores, whose rounding is one number and not n that average out.
TEST(Judged, LseOfScoresThatAreRoundedAlikeMayBeOffByOneOfThem) {
  const auto spread = [](const char* text) { return spread_of_lse(parse_case(text), 0, {0, 3, 8}); };
  const at::Tensor alike = at::tensor({1.0, 2.0, 3.0}, at::kDouble);
  EXPECT_TRUE(at::equal(spread("causal/P2/s9/d8/float32/equal-keys"), alike));
  EXPECT_TRUE(at::equal(spread("causal/P2/s9/d8/float32/spread3"), at::ones({3}, at::kDouble)));
}

TEST(Judged, FormAloneMakesNoPass) {
  EXPECT_EQ(overall({said(About::kForm, Status::kPass)}), Status::kInconclusive);
  EXPECT_EQ(overall({said(About::kForm, Status::kFail)}), Status::kFail);
  EXPECT_EQ(overall({said(About::kForm, Status::kPass), said(About::kValues, Status::kPass)}),
            Status::kPass);
  EXPECT_EQ(overall({said(About::kForm, Status::kPass), said(About::kRelation, Status::kPass)}),
            Status::kPass);
  EXPECT_EQ(overall({said(About::kForm, Status::kPass), said(About::kValues, Status::kNotApplicable)}),
            Status::kInconclusive);
  EXPECT_EQ(overall({said(About::kRelation, Status::kInconclusive)}), Status::kInconclusive);
  EXPECT_EQ(overall({said(About::kValues, Status::kPass), said(About::kRelation, Status::kInconclusive)}),
            Status::kPass);
  EXPECT_EQ(overall({said(About::kValues, Status::kInconclusive), said(About::kRelation, Status::kPass)}),
            Status::kInconclusive);
  const Verdict verdict = judged("P2/s16", {"returned", "counters"});
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_THAT(verdict.judged.at("o"), Each(JudgedBy::kNobody));
}

// What a relation says of several runs, exact as it may be, says of none of them who judged its values.
TEST(Judged, ByTheBestOfThoseThatSpeakOfTheValuesOfTheRun) {
  const auto of_o = [](About about, std::vector<JudgedBy> ranks) {
    OracleVerdict verdict = said(about, Status::kPass);
    verdict.tensors.emplace_back().tensor = "o";
    verdict.tensors.front().judged_by = std::move(ranks);
    return verdict;
  };
  const auto bounded = of_o(About::kValues, {JudgedBy::kBounded, JudgedBy::kNobody});
  const auto exact = of_o(About::kValues, {JudgedBy::kNobody, JudgedBy::kExact});
  EXPECT_THAT(judged_of({bounded, exact}, 2).at("o"), ElementsAre(JudgedBy::kBounded, JudgedBy::kExact));
  EXPECT_THAT(judged_of({bounded, exact}, 2).at("lse"), Each(JudgedBy::kNobody));
  for (const About about : {About::kRelation, About::kForm}) {
    const auto other = of_o(about, {JudgedBy::kExact, JudgedBy::kExact});
    EXPECT_THAT(judged_of({other, bounded}, 2).at("o"), ElementsAre(JudgedBy::kBounded, JudgedBy::kNobody));
    EXPECT_THAT(judged_of({other}, 2).at("o"), Each(JudgedBy::kNobody));
  }
}

// Of what a relation shows nothing it says so, and the rest of what it shows stands.
TEST(Judged, ARelationKeepsWhatItCannotSay) {
  const Case test = parse_case("P1/b1/hq1/hkv1/s4/d2");
  const at::Tensor small = at::full({1, 1, 4, 2}, 1e-3, at::kDouble), large = small * 1e6;
  const auto all = [](const at::Tensor& o, const at::Tensor& dq) {
    return reference::Tensors{o, {}, dq, {}, {}};
  };
  const at::Tensor one = at::ones_like(small);
  const Measured run{all(large, small), all(one, one), all(one / 8, one / 8)};
  const OracleVerdict both = agree(test, run, run);
  EXPECT_EQ(both.status, Status::kPass);
  EXPECT_EQ(both.tensors[0].status, Status::kPass);
  EXPECT_EQ(both.tensors[1].status, Status::kInconclusive);
  const Measured nothing{all(small, small), run.bound, run.sigma};
  EXPECT_EQ(agree(test, nothing, nothing).status, Status::kInconclusive);
}

// A subject that rotates wrongly and attends what it rotated is right about what it attended.
TEST(Judged, TheRotatedQAndKAreJudgedWhereTheyAreTaken) {
  const Case test = parse_case("ring:p2p/headtail/causal/P2/b1/hq2/hkv2/s16/d8/float32/rope:half[10000]");
  RunOptions options;
  options.judging.oracles = {"parity"};
  EXPECT_EQ(verify(test, options).status, Status::kPass);
  options.subject = ours_with([](Communicator& comm, const Case& c, const RankInput& input) {
    Case wrong = c;
    wrong.rope.base = 500;
    return context_parallel_with(options_of(wrong), comm, c, input);
  });
  const Verdict verdict = verify(test, options);
  EXPECT_EQ(tensor(verdict, "o").status, Status::kPass);
  EXPECT_EQ(oracle(verdict, "rope").status, Status::kFail);
}

TEST(Judged, NobodyElseIsAskedOfWhatIsNotRotatedOrNotOfValues) {
  const std::string text = "ring:p2p/headtail/causal/P2/b1/hq2/hkv2/s16/d8/float32";
  for (const auto& [rope, asked] : {std::pair("", "parity"), {"", "counters"}, {"/rope:half[10000]", "counters"}}) {
    RunOptions options;
    options.judging.oracles = {asked};
    const Verdict verdict = verify(parse_case(text + rope), options);
    ASSERT_EQ(verdict.oracles.size(), 1) << asked << rope;
    EXPECT_EQ(verdict.oracles[0].name, asked);
  }
}

// The same in a further run alone.
TEST(Judged, TheRotatedQAndKOfAFurtherRunAreJudgedToo) {
  const Case test = parse_case("ring:p2p/headtail/causal/P2/b1/hq2/hkv2/s16/d8/float32/rope:half[10000]");
  RunOptions options;
  options.judging.oracles = {"parity", "extremes"};
  options.subject = ours_with([](Communicator& comm, const Case& c, const RankInput& input) {
    Case wrong = c;
    if (input.local.q.abs().max().item<double>() > 30) wrong.rope.base = 500;
    return context_parallel_with(options_of(wrong), comm, c, input);
  });
  const Verdict verdict = verify(test, options);
  EXPECT_EQ(oracle(verdict, "parity").status, Status::kPass);
  EXPECT_EQ(oracle(verdict, "rope").status, Status::kPass);
  EXPECT_THAT(oracle(verdict, "extremes").findings, Contains(HasSubstr("rotated q")));
}

TEST(Judged, TheRotatedQAndKOfEachFurtherRunAreJudged) {
  const Case test = parse_case("ring:p2p/headtail/causal/P2/b1/hq2/hkv2/s17/d8/float32/rope:half[10000]");
  ThreadRanks threads(std::chrono::seconds(30));
  const Observed clean = observe(test, *ours(), threads, {"pads"}).value();
  const Problem problem = problem_of(test);
  const auto pads = [&](const Observed& observed) {
    return oracle(judged({test, *ours(), {"pads"}}, problem, observed), "pads");
  };
  EXPECT_THAT(pads(clean).findings, testing::IsEmpty());
  for (size_t run : {0, 1})
    for (at::Tensor Outcome::*rotated : {&Outcome::q_rotated, &Outcome::k_rotated}) {
      Observed wrong = clean;
      at::Tensor& x = wrong.variations.at("pads").at(run).*rotated;
      x = x.roll(1, 2);
      const char* name = rotated == &Outcome::q_rotated ? "q" : "k";
      const OracleVerdict verdict = pads(wrong);
      EXPECT_EQ(verdict.status, Status::kFail);
      EXPECT_THAT(verdict.findings, ElementsAre(testing::StartsWith(c10::str("further run ", run, ", rotated ", name))));
    }
}

// Whatever of the five tensors a subject says it has not, no oracle ends in anything but a verdict.
TEST(Judged, NoOracleNeedsATensorThatItDoesNotSayItReads) {
  for (const char* withheld : {"lse", "dq", "dk", "dv"})
    for (const char* text :
         {"ring:p2p/headtail/causal/P2/b2/hq4/hkv2/s24/d8/float32/rope:half[10000]",
          "ring:p2p/striped[2]/full/P2/b1/hq2/hkv2/s24/d8/bf16",
          "ring:p2p/headtail/causal/P2/b1/hq2/hkv2/s24/d8/bf16/census",
          "ring:p2p/headtail/causal/P2/b1/hq2/hkv1/s24/d8/float32/routing",
          "ring:p2p/headtail/causal/P2/b1/hq2/hkv1/s24/d8/float32/equal-keys",
          "ring:p2p/headtail/causal/P2/b1/hq2/hkv1/s24/d8/float32/ones",
          "ring:p2p/headtail/full/P2/b1/hq2/hkv1/s16/d8/bf16/scale:0.25/snap"}) {
      for (const std::string& name : all_oracles()) {
        SCOPED_TRACE(name + " without " + withheld + " of " + text);
        RunOptions options;
        options.judging.oracles = {name};
        const auto run = [&] {
          return verify_spoilt(
              parse_case(text),
              [&](Communicator&, RankOutput& output) { ringcheck::of(output, withheld).reset(); },
              options, [&](Promise& promise) { promise.shows.erase(withheld); });
        };
        Verdict verdict;
        EXPECT_NO_THROW(verdict = run());
        EXPECT_NE(verdict.status, Status::kFail);
        if (!verdict.judged.empty()) {
          EXPECT_THAT(verdict.judged.at(withheld), Each(JudgedBy::kNobody));
        }
      }
    }
}

}  // namespace
}  // namespace ringcheck::parity
