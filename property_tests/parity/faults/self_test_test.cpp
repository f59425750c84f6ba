// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The self-test before every run sees what is wrong with the judging, an arithmetic or a reference with one thing wrong.
#include "parity/faults/self_test/self_test.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "parity/faults/self_test/known_relations.h"
#include "parity/faults/self_test/known_truths.h"
#include "parity/faults/self_test/known_verdicts.h"
#include "parity/judge/device_test.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/faults/said.h"
#include "reference/tiles/fast_path.h"

namespace ringcheck::parity {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> failures_with(const JudgeArithmetic& arithmetic) {
  SelfTest result;
  examine_elements(arithmetic, result);
  examine_rules(arithmetic, result);
  return result.failures;
}

std::vector<std::string> failures_with(const Truth& truth) {
  SelfTest result;
  examine_truth(truth, result);
  return result.failures;
}

TEST(SelfTest, AcceptsTheJudgingAsItIs) {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    const SelfTest test = self_test(dtype, all_oracles(), judge_plainly);
    EXPECT_THAT(test.failures, IsEmpty()) << dtype;
    EXPECT_GE(test.demands, 100) << dtype;
  }
  EXPECT_THAT(failures_with(JudgeArithmetic{}), IsEmpty());
  EXPECT_THAT(failures_with(Truth(true_judgement)), IsEmpty());
  SelfTest draws;
  examine_draws(drawn_oracles, draws);
  EXPECT_THAT(draws.failures, IsEmpty());
  EXPECT_GE(draws.demands, 40);
  SelfTest failures;
  examine_failures(verify_within, failures);
  EXPECT_THAT(failures.failures, IsEmpty());
  EXPECT_EQ(failures.demands, 19);
  SelfTest together;
  examine_judged(together);
  EXPECT_THAT(together.failures, IsEmpty());
  EXPECT_GE(together.demands, 240);
  SelfTest forms;
  examine_closed_forms(forms);
  EXPECT_THAT(forms.failures, IsEmpty());
  EXPECT_NO_THROW(test_before({}, {all_oracles()}));
}

// Of what is given to the judging: on every rank, of every tensor, of every kernel.
TEST(SelfTest, ExaminesMetersDataAndPromises) {
  for (const auto& [examine, least] :
       {std::pair(&examine_meters, 80), {examine_data, 60}, {examine_promises, 50}, {examine_refusals, 300}, {examine_growth, 2}}) {
    SelfTest result;
    examine(result);
    EXPECT_THAT(result.failures, IsEmpty());
    EXPECT_GE(result.demands, least);
  }
}

// Relations that no case draws, or one of them.
TEST(SelfTest, SeesARelationThatIsNeverDrawn) {
  SelfTest none, but_one, together;
  examine_draws([](const Case&, const Subject&) { return std::vector<std::string>(); }, none);
  EXPECT_EQ(2 * std::ssize(none.failures), none.demands) << "of each: that it is drawn, and not just where another one is";
  const auto without = [](const Case& test, const Subject& subject) {
    std::vector<std::string> names = drawn_oracles(test, subject);
    std::erase(names, "key-order");
    return names;
  };
  examine_draws(without, but_one);
  EXPECT_THAT(but_one.failures, Contains(HasSubstr("key-order is drawn by none of")));
  examine_draws([&](const Case& test, const Subject& subject) {
    std::vector<std::string> names = without(test, subject);
    if (std::ranges::find(names, "head-order") != names.end()) names.push_back("key-order");
    return names;
  }, together);
  EXPECT_THAT(together.failures, Contains(HasSubstr("is drawn by just the cases that draw")));
}

// How a case ends, mistaken, and without a reason.
TEST(SelfTest, SeesAnEndThatIsMistaken) {
  const auto failures_with = [](const std::function<void(Verdict&)>& change) {
    SelfTest test;
    examine_failures([&](std::chrono::milliseconds deadline, const Case& one, const SharedSubject& subject) {
      Verdict verdict = verify_within(deadline, one, subject);
      change(verdict);
      return verdict;
    }, test);
    return test.failures;
  };
  const auto swapped = failures_with([](Verdict& verdict) {
    if (verdict.status == Status::kHang) verdict.status = Status::kCrash;
    else if (verdict.status == Status::kCrash) verdict.status = Status::kHang;
  });
  EXPECT_EQ(swapped.size(), 2U + 10U);
  const auto refused = failures_with([](Verdict& verdict) { if (verdict.test.world == 8) verdict.status = Status::kNotSupported; });
  EXPECT_EQ(refused.size(), 5U);
  EXPECT_EQ(failures_with([](Verdict& verdict) { verdict.reason.clear(); }).size(), 3U);
}

// One that leaves a tensor out of what it claims says nothing wrong of the others.
TEST(SelfTest, SeesAnOracleThatClaimsLess) {
  for (const char* name : {"census", "constant-v", "equal-keys", "ownership", "parity", "rope", "rope-norms", "routing", "routing-gradients", "snap"}) {
    const SelfTest test = self_test(at::kDouble, {name}, judge_plainly);
    EXPECT_THAT(test.failures, IsEmpty()) << name;
    SelfTest fewer;
    examine_claims(name, {}, fewer);
    EXPECT_EQ(fewer.failures.size(), 1U) << name;
  }
}

// A clean outcome, and a spoilt one.
TEST(SelfTest, ExaminesTheOracles) {
  for (const std::string& name : all_oracles())
    EXPECT_GE(self_test(at::kDouble, {name}, judge_plainly).demands, 2) << name;
}

// One case that draws an oracle is enough for it to be examined.
TEST(SelfTest, ExaminesWhatCasesDraw) {
  const std::vector<Case> cases{parse_case("causal/P8/b1/hq1/hkv1/s16/d4/dv4/float32")};
  ASSERT_THAT(drawn_oracles(cases[0], *ours()), Contains("memory-growth"));
  const AskOracle blind = [](const Oracle& oracle, const Evidence& evidence) {
    if (&oracle == &Oracles::at("memory-growth"))
      return said(Status::kPass);
    return oracle.judge(evidence);
  };
  EXPECT_NO_THROW(test_before(cases, {oracles_of_one_run()}, blind));
  EXPECT_THROW(test_before(cases, {oracles_of_one_run(), 0, true}, blind), SelfTestFailed);
}

// A judging that is right of all, and wrong of a sample.
TEST(SelfTest, ExaminesSamples) {
  const auto failures = [](const std::function<OracleVerdict(const Oracle&, Evidence)>& sampled) {
    SelfTest result;
    examine_sample(100, sampled, result);
    return result.failures;
  };
  EXPECT_THAT(failures([](const Oracle& o, const Evidence& e) { return o.judge(e); }), IsEmpty());
  EXPECT_THAT(failures([](auto&&...) { return said(Status::kPass); }),
              Contains(HasSubstr("accepted")));
  EXPECT_THAT(failures([](auto&&...) { return said(Status::kFail); }),
              Contains(HasSubstr("refused a clean outcome")));
  EXPECT_THAT(failures([](const Oracle& oracle, Evidence e) {
                e.sample -= 1;  // other positions
                return oracle.judge(e);
              }),
              Contains(HasSubstr("at position")));
  const AskOracle blind = [](const Oracle& oracle, const Evidence& evidence) {
    OracleVerdict verdict = oracle.judge(evidence);
    if (evidence.sample > 0) verdict.status = Status::kPass;
    return verdict;
  };
  EXPECT_NO_THROW(test_before({}, {{"parity"}}, blind));
  EXPECT_THROW(test_before({}, {{"parity"}, 64}, blind), SelfTestFailed);
}

// A judge whose tally has changed on its way.
JudgeArithmetic tallied(std::function<void(Tally&)> change) {
  JudgeArithmetic arithmetic;
  arithmetic.judge = [change](const Case& test, const std::string& name, Tallied t) {
    change(t.tally);
    return judge(test, name, t);
  };
  return arithmetic;
}

TEST(SelfTest, SeesAJudgeWithoutALawOrWithAnother) {
  const std::map<std::string, JudgeArithmetic> wrong{
      {"no STAT", tallied([](Tally& t) { t.max_z = 0; })},
      {"STAT of 10 sigma", tallied([](Tally& t) { t.max_z *= 0.8; })},
      {"STAT of 6 sigma", tallied([](Tally& t) { t.max_z *= 8.0 / 6; })},
      {"no HARD", tallied([](Tally& t) { t.hard_ratio = 0; })},
      {"HARD a little wider", tallied([](Tally& t) { t.hard_ratio *= 0.998; })},
      {"HARD a little closer", tallied([](Tally& t) { t.hard_ratio *= 1.01; })},
      {"vacuity over 8", tallied([](Tally& t) {
         for (double& x : t.vacuous)
           x /= 8;
       })},
      {"vacuity times 1.2", tallied([](Tally& t) {
         for (double& x : t.vacuous)
           x *= 1.2;
       })},
      {"the last position forgotten", tallied([](Tally& t) { t.signed_z.back() = 0; })},
      {"no bias", tallied([](Tally& t) {
         for (double& z : t.signed_z)
           z = 0;
       })},
      {"twice the elements", tallied([](Tally& t) {
         for (double& n : t.elements)
           n *= 2;
       })},
      {"another place", tallied([](Tally& t) { t.stat.position = t.hard.position = 0; })}};
  for (const auto& [what, arithmetic] : wrong)
    EXPECT_THAT(failures_with(arithmetic), Not(IsEmpty())) << what;
}

TEST(SelfTest, SeesAWrongTally) {
  const auto with = [](const std::function<Compared(Compared)>& sees) {
    JudgeArithmetic arithmetic;
    arithmetic.tally = [sees](const Compared& part, int64_t seq) { return tally(sees(part), seq); };
    return arithmetic;
  };
  const std::map<std::string, JudgeArithmetic> wrong{
      {"NaN is right", with([](Compared c) {
         c.actual = at::where(c.actual.isnan(), c.value, c.actual);
         return c;
       })},
      {"errors over 4", with([](Compared c) {
         c.actual = at::where(c.value.isfinite(), c.value + (c.actual - c.value) / 4, c.actual);
         return c;
       })},
      {"the last pair is right", with([](Compared c) {
         c.actual = c.actual.clone();
         c.actual.select(0, -1).copy_(c.value.select(0, -1));
         return c;
       })},
      {"the last slot is right", with([](Compared c) {
         c.actual = c.actual.clone();
         c.actual.select(2, -1).copy_(c.value.select(2, -1));
         return c;
       })},
      {"in float32", with([](Compared c) {
         c.actual = c.actual.to(at::kFloat);
         return c;
       })}};
  for (const auto& [what, arithmetic] : wrong)
    EXPECT_THAT(failures_with(arithmetic), Not(IsEmpty())) << what;
}

TEST(SelfTest, SeesWrongRules) {
  JudgeArithmetic charts, tensors, cases;
  charts.charted = [](const Promise&, TensorVerdict verdict) { return verdict; };
  tensors.status_of = [](const std::vector<TensorVerdict>& all) { return all.front().status; };
  cases.overall = [](const std::vector<OracleVerdict>& all) { return all.back().status; };
  for (const JudgeArithmetic& wrong : {charts, tensors, cases})
    EXPECT_THAT(failures_with(wrong), Not(IsEmpty()));
}

// One element of one tensor of the reference, its bounds, or its sigmas.
TEST(SelfTest, SeesOneWrongElementOfTheReference) {
  for (const auto& [name, tensor] : kTensors) {
    const auto with = [&](const std::function<void(reference::Judgement&)>& change) {
      return failures_with(Truth([&](const auto&... given) {
        reference::Judgement judgement = true_judgement(given...);
        change(judgement);
        return judgement;
      }));
    };
    const auto named = Contains(HasSubstr(std::string("another ") + name));
    EXPECT_THAT(with([&](auto& j) { (j.value.*tensor).view(-1)[-1] += 1e-6; }), named);
    EXPECT_THAT(with([&](auto& j) { (j.value.*tensor).view(-1)[3] = NAN; }), named);
    EXPECT_THAT(
        with([&](auto& j) { j.value.*tensor = (j.value.*tensor).to(at::kFloat).to(at::kDouble); }),
        named);
    EXPECT_THAT(with([&](auto& j) { j.bound.*tensor *= 1.1; }),
                Contains(HasSubstr(std::string("bound of ") + name)));
    EXPECT_THAT(with([&](auto& j) { j.sigma.*tensor *= 0.9; }),
                Contains(HasSubstr(std::string("sigma of ") + name)));
  }
}

// The whole way: a reference that is wrong where it is asked.
TEST(SelfTest, ThrowsWhereTheReferenceIsWrong) {
  const reference::RegisteredFastPath path(
      {"fake", [](const reference::Group&) { return true; },
       [](const reference::Group& group, const reference::Tiles& tiles) {
         reference::Solution solution = reference::attend_plainly(group, tiles, {});
         solution.o.view(-1)[5] += 1e-3;
         return solution;
       }});
  try {
    test_before({}, {{"parity"}});
    FAIL() << "nothing was noticed";
  } catch (const SelfTestFailed& error) {
    EXPECT_THAT(error.what(), HasSubstr("self-test: "));
  }
}

}  // namespace
}  // namespace ringcheck::parity
