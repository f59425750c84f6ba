// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A relation between runs is only worth what it rejects: for each of them a subject that breaks it,
// and that without the breach passes.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <regex>
#include <string>

#include "parity/case/case_space.h"
#include "parity/case/text.h"
#include "parity/judge/relation.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::RankInput;
using parity::RankOutput;
using parity::Status;

// A subject that is ours between two changes.
struct Breach {
  std::string relation;
  std::string where;  // what of the case must be so for the relation to say something
  std::function<void(const Case&, RankInput&)> before = [](const Case&, RankInput&) {};
  std::function<void(const Case&, const RankInput&, RankOutput&)> after =
      [](const Case&, const RankInput&, RankOutput&) {};
  std::function<void(Communicator&, const RankInput&)> sends = [](Communicator&, const RankInput&) {};
};

parity::SharedSubject broken(const Breach& breach) {
  return parity::ours_with([&breach](Communicator& comm, const Case& test, const RankInput& given) {
    RankInput input{given.local.to(at::kCPU, true), given.positions};
    breach.before(test, input);
    RankOutput output = parity::context_parallel(comm, test, input);
    breach.after(test, given, output);
    breach.sends(comm, given);
    return output;
  });
}

Status verdict_of(const Case& test, const std::string& relation, const parity::SharedSubject& subject) {
  parity::RunOptions options;
  options.subject = subject;
  options.judging.oracles = {relation};
  const parity::Verdict verdict = parity::verify(test, options);
  return verdict.oracles.empty() ? verdict.status : verdict.oracles.front().status;
}

std::atomic<int> calls{0};

std::vector<Breach> breaches() {
  const auto unchanged = [](const Case&, RankInput&) {};
  return {
      {"repetition", "", unchanged,
       [](const Case&, const RankInput&, RankOutput& o) { o.dq.mul_(1 + 0.1 * ++calls); }},
      {"rotations", "", unchanged,
       [](const Case& c, const RankInput&, RankOutput& o) {
         if (c.arguments == ":allgather") o.dv.mul_(1.02);
       }},
      {"run-to-run", "", unchanged,
       [](const Case&, const RankInput&, RankOutput& o) { o.dk.mul_(1 + 0.1 * ++calls); }},
      {"larger-batch", "", unchanged,
       [](const Case& c, const RankInput&, RankOutput& o) {
         o.dv.mul_(1 + 0.1 * static_cast<double>(c.batch));
       }},
      {"splitting", "", unchanged,
       [](const Case&, const RankInput&, RankOutput& o) { o.lse.mul_(1.5); }},
      {"position-shift", "",
       [](const Case&, RankInput& in) {
         int64_t slot = 0;
         for (const int64_t position : flatten(in.positions))
           in.local.q.select(2, slot++).mul_(1 + static_cast<double>(position));
       }},
      {"worlds", "", unchanged,
       [](const Case& c, const RankInput&, RankOutput& o) { o.o.mul_(1 + 0.2 * c.world); }},
      {"balancers", "", unchanged,
       [](const Case& c, const RankInput&, RankOutput& o) {
         if (c.balance == "contiguous") o.lse.add_(0.1);
       }},
      {"key-order", "full", [](const Case&, RankInput& in) { in.local.v.select(2, 0).mul_(4); }},
      {"query-order", "full", [](const Case&, RankInput& in) { in.local.q.select(2, 0).mul_(4); }},
      {"key-shift", "causal", unchanged,
       [](const Case&, const RankInput&, RankOutput& o) { o.lse.mul_(1.5); }},
      {"score-scale", "causal", [](const Case&, RankInput& in) { in.local.q.add_(0.25); }},
      {"scale-in-query", "causal", [](const Case&, RankInput& in) { in.local.q.add_(0.25); }},
      {"value-scale", "causal", [](const Case&, RankInput& in) { in.local.v.add_(0.25); }},
      {"value-sum", "causal", [](const Case&, RankInput& in) { in.local.v.square_(); }},
      {"channel-order", "causal",
       [](const Case&, RankInput& in) { in.local.q.select(3, 0).mul_(4); }},
      {"head-order", "causal", [](const Case&, RankInput& in) { in.local.q.select(1, 0).mul_(4); }},
      {"repeated-heads", "causal",
       [](const Case& c, RankInput& in) {
         if (c.kv_heads < c.q_heads) in.local.k = in.local.k.roll(1, 1);
       }},
      {"causality", "causal", unchanged,
       [](const Case&, const RankInput& in, RankOutput& o) {
         o.o.add_(in.local.v.nan_to_num(0).sum().item<double>());
       }},
      {"prefix", "causal", unchanged,
       [](const Case& c, const RankInput&, RankOutput& o) {
         o.o.mul_(1 + 0.1 * static_cast<double>(c.seq));
       }},
      {"pads", "causal", unchanged,
       [](const Case& c, const RankInput& in, RankOutput& o) {
         int64_t slot = 0;
         for (const int64_t position : flatten(in.positions)) {
           if (position >= c.seq) o.o.add_(in.local.v.select(2, slot).nan_to_num(7).mean().item<double>());
           ++slot;
         }
       }},
      {"extremes", "causal", unchanged,
       [](const Case&, const RankInput&, RankOutput& o) { o.lse.clamp_max_(60); }},
      {"extremes", "causal", unchanged,
       [](const Case&, const RankInput&, RankOutput& o) {
         o.lse.masked_fill_(o.lse < -100, -INFINITY);
       }},
      {"visible-nan", "causal", unchanged,
       [](const Case&, const RankInput&, RankOutput& o) { o.o.nan_to_num_(0); }},
      {"visible-nan", "causal", unchanged,
       [](const Case&, const RankInput&, RankOutput& o) { o.dv.nan_to_num_(0); }},
      {"other-values", "causal", unchanged, [](const Case&, const RankInput&, RankOutput&) {},
       [](Communicator& comm, const RankInput& in) {
         const double sum = in.local.q.select(2, 0).abs().sum().item<double>() * 1000;
         const int64_t messages = comm.agree_max(static_cast<int64_t>(sum)) % 97;
         for (int64_t i = 0; i < messages; ++i) comm.agree_max(i);
       }},
  };
}

std::vector<std::string> relations() {
  std::vector<std::string> names;
  for (const auto& [name, oracle] : parity::Oracles::all())
    if (oracle.variations) names.push_back(name);
  return names;
}

TEST(Relations, EachRejectsTheSubjectThatBreaksIt) {
  for (const Breach& breach : breaches()) {
    int judged = 0;
    for (const char* dtype : {"float64", "float32", "bf16", "fp16"}) {
      Case test = parity::parse_case(std::string("ring:p2p/headtail/P3/b2/hq4/hkv2/s37/d8/dv12/") +
                                     dtype + "/" + (breach.where.empty() ? "causal" : breach.where));
      const Status clean = verdict_of(test, breach.relation, parity::ours());
      if (clean == Status::kNotApplicable) continue;
      EXPECT_EQ(clean, Status::kPass) << breach.relation << " " << dtype;
      EXPECT_EQ(verdict_of(test, breach.relation, broken(breach)), Status::kFail)
          << breach.relation << " " << dtype;
      ++judged;
    }
    EXPECT_GE(judged, 3) << breach.relation;
  }
}

// None but those whose relation is about counters, or about NaN itself, lets a NaN pass.
TEST(Relations, NaNIsRejectedByEach) {
  const Breach nan{"", "", [](const Case&, RankInput&) {},
                   [](const Case&, const RankInput&, RankOutput& o) {
                     for (at::Tensor* x : {&o.o, &o.lse, &o.dq, &o.dk, &o.dv})
                       x->select(2, 0).fill_(NAN);
                   }};
  for (const Breach& breach : breaches()) {
    if (breach.relation == "other-values" || breach.relation == "visible-nan") continue;
    const Case test = parity::parse_case("ring:p2p/contiguous/P3/hq4/hkv2/s37/d8/float32/" +
                                         (breach.where.empty() ? "causal" : breach.where));
    EXPECT_EQ(verdict_of(test, breach.relation, broken(nan)), Status::kFail) << breach.relation;
  }
}

// Where a NaN is, the last batch entry, head or channel has one, too.
TEST(Relations, AVisibleNaNStaysInItsEntryHeadAndChannel) {
  const Case test = parity::parse_case("ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12/float32");
  for (at::Tensor RankOutput::*tensor : {&RankOutput::o, &RankOutput::dv})
    for (const int64_t dim : {0, 1, 3}) {
      Breach spreads;
      spreads.after = [=](const Case&, const RankInput&, RankOutput& output) {
        const at::Tensor& x = output.*tensor;
        x.select(dim, -1).masked_fill_(x.select(dim, 0).isnan(), NAN);
      };
      EXPECT_EQ(verdict_of(test, "visible-nan", broken(spreads)), Status::kFail)
          << (tensor == &RankOutput::o ? "o" : "dv") << " along dimension " << dim;
    }
}

// Who keeps numbers is counted: under a causal mask all queries from the first one on see the NaN.
TEST(Relations, WhoSeesANaNAndIsANumberIsCounted) {
  const Case test = parity::parse_case("ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12/float32");
  Breach numbers;
  numbers.after = [](const Case&, const RankInput&, RankOutput& o) { o.o.nan_to_num_(0); };
  parity::RunOptions options;
  const parity::SharedSubject subject = broken(numbers);
  options.subject = subject;
  options.judging.oracles = {"visible-nan"};
  const std::string found = testing::PrintToString(parity::verify(test, options).oracles.front().findings);
  std::smatch words;
  ASSERT_TRUE(std::regex_search(found, words, std::regex("position (\\d+) sees a NaN and is a number; so are (\\d+) more"))) << found;
  EXPECT_EQ(std::stol(words[1]) + std::stol(words[2]) + 1, test.seq);
}

TEST(Relations, WhatNeedsMoreThanOneRankHasNoRunOfOne) {
  const Case test = parity::parse_case("ring:p2p/headtail/causal/P1/b2/hq4/hkv2/s37/d8/dv12/float32");
  int relations = 0;
  for (const auto& [name, oracle] : parity::Oracles::all())
    if (oracle.variations && oracle.needs == "more than one rank") {
      EXPECT_TRUE(oracle.variations(test).empty()) << name;
      ++relations;
    }
  EXPECT_GE(relations, 1);
}

// What has a further run in no case never says a word.
TEST(Relations, EachHasRunsInSomeCaseThatSmokeMayDraw) {
  const parity::CaseSpace space(parity::smoke_ranges(), "cpu");
  const parity::Draw draw = parity::drawn_from(1);
  std::vector<Case> cases;
  for (int i = 0; i < 300; ++i) cases.push_back(space.build(space.choose(draw), draw));
  EXPECT_FALSE(relations().empty());
  for (const std::string& name : relations())
    if (const auto& runs = parity::Oracles::at(name).variations; name != "device-order") {  // that needs GPUs
      EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& c) { return !runs(c).empty(); })) << name;
    }
}

// Entries of different lengths have pads, also where no rank has more slots than another.
TEST(Relations, ShorterEntriesHavePads) {
  const auto runs = [](const char* text) { return parity::Oracles::at("pads").variations(parity::parse_case(text)).size(); };
  EXPECT_EQ(runs("ring:p2p/contiguous/causal/P2/b2/hq4/hkv2/s32/d8/float32"), 0);
  EXPECT_EQ(runs("ring:p2p/contiguous/causal/P2/b2/hq4/hkv2/s32/d8/float32/lengths:32+20"), 2);
}

// What a larger batch has beside the case is no zero: where it is added to the case, it shows.
TEST(Relations, ALargerBatchShowsWhatLeaksIntoTheCase) {
  const Case test = parity::parse_case("ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12/float32");
  for (at::Tensor RankOutput::*tensor : {&RankOutput::o, &RankOutput::dq, &RankOutput::dk, &RankOutput::dv})
    for (const int64_t dim : {0, 1}) {
      Breach leaks;
      leaks.after = [&, tensor, dim](const Case& c, const RankInput&, RankOutput& output) {
        const at::Tensor& x = output.*tensor;
        if (c.batch > test.batch) x.select(dim, 0).add_(x.select(dim, -1));
      };
      EXPECT_EQ(verdict_of(test, "larger-batch", broken(leaks)), Status::kFail) << "along dimension " << dim;
    }
}

// A law for every relation that has registered, those of other files included.
RC_GTEST_PROP(Relations, HoldForRandomCases, ()) {
  const Case test = *gen::test_case().as("case");
  parity::RunOptions options;
  options.judging.oracles = relations();
  const parity::Verdict verdict = parity::verify(test, options);
  for (const parity::OracleVerdict& oracle : verdict.oracles)
    if (oracle.status == Status::kFail)
      RC_FAIL(oracle.name + ": " + oracle.findings.at(0) + " in " + parity::to_text(test));
  RC_ASSERT(verdict.oracles.size() >= relations().size());  // and rope, where q and k are rotated
}

// Weights of e^-90: what is below the smallest normal number is not twice as much of anything.
TEST(Relations, GradientsNextToNothingAreNoBreach) {
  for (const char* relation : {"score-scale", "value-scale", "gradient-scale"})
    EXPECT_EQ(verdict_of(parity::parse_case("ring:p2p/contiguous/causal/P3/b2/hq4/hkv2/s15/d16/"
                                            "dv24/bf16/scale:4.5/seed14"),
                         relation, parity::ours()),
              Status::kPass)
        << relation;
}

// Where one key has all the weight, dS is a difference of few bits: half the products with it are ties, which
// terms of e^-100 decide, as long as they do not underflow.
TEST(Relations, ATieThatUnderflowDecidesIsNoBreach) {
  for (const char* seed : {"uniform/seed11", "uniform/seed17", "wide/seed52"})
    EXPECT_EQ(verdict_of(parity::parse_case("ring:allgather/striped[1]/docfull[11,5,1,1,5]/P6/b4/hq4/hkv4/s23/d96/"
                                            "dv96/float32/rope:half[10000]/scale:8/" + std::string(seed)),
                         "scale-in-query", parity::ours()),
              Status::kPass)
        << seed;
}

// What one run shows and the other does not is no agreement.
TEST(Relations, ATensorThatOneRunLacksIsWrong) {
  const Case test = parity::parse_case("ring:p2p/contiguous/causal/P2/hq4/hkv2/s24/d8/float64");
  const at::Tensor x = at::ones({1, 4, 24, 8}, at::kDouble), little = at::full_like(x, 1e-9);
  parity::Measured whole;
  whole.value.o = whole.value.dq = x;
  whole.bound.o = whole.bound.dq = whole.sigma.o = whole.sigma.dq = little;
  parity::Measured lacking = whole;
  lacking.value.dq.reset();
  EXPECT_EQ(parity::agree(test, whole, whole).status, Status::kPass);
  EXPECT_EQ(parity::agree(test, lacking, whole).status, Status::kFail);
}

}  // namespace
}  // namespace ringcheck
