// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Oracles that need no reference reject a subject that is wrong in one way, and accept ours.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/judge/runner.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::RankInput;
using parity::RankOutput;
using parity::Status;

using Spoil = std::function<void(const Case&, Communicator&, const RankInput&, RankOutput&)>;

const Spoil kNothing = [](auto&&...) {};

parity::OracleVerdict judged(const std::string& oracle, const std::string& text,
                             const Spoil& spoil) {
  const Case test = parity::parse_case("ring:p2p/headtail/P3/b2/hq4/hkv2/s96/d16/dv16/" + text);
  parity::RunOptions options;
  options.judging.oracles = {oracle};
  options.subject = parity::ours_with([&](Communicator& comm, const Case& c, const RankInput& input) {
    RankOutput output = parity::context_parallel(comm, c, input);
    spoil(c, comm, input, output);
    return output;
  });
  return parity::verify(test, options).oracles.at(0);
}

Status status(const std::string& oracle, const std::string& text, const Spoil& spoil) {
  return judged(oracle, text, spoil).status;
}

TEST(ReferenceFree, AcceptOurs) {
  for (const char* oracle : {"conservation", "adjoint", "gradient-causality"})
    for (const char* dtype : {"float64", "float32", "bf16", "fp16"})
      for (const char* rope : {"rope:none", "rope:half[10000]"})
        EXPECT_EQ(status(oracle, std::string("causal/") + dtype + "/" + rope, kNothing),
                  Status::kPass)
            << oracle << " " << dtype << " " << rope;
  EXPECT_EQ(status("gradient-scale", "causal/bf16", kNothing), Status::kPass);
  EXPECT_EQ(status("difference-quotient", "causal/float64", kNothing), Status::kPass);
}

TEST(ReferenceFree, SayWhenTheyDoNotApply) {
  EXPECT_EQ(status("gradient-causality", "full/bf16", kNothing), Status::kNotApplicable);
  EXPECT_EQ(status("gradient-scale", "causal/fp16", kNothing), Status::kNotApplicable);
  EXPECT_EQ(status("difference-quotient", "causal/float32", kNothing), Status::kNotApplicable);
  for (const char* oracle : {"conservation", "adjoint"})
    EXPECT_EQ(status(oracle, "causal/bf16",
                     [](auto&, auto&, auto&, RankOutput& o) { o.dv.reset(); }),
              Status::kNotApplicable);
}

TEST(ConservationOracle, NamesLawPlaceAndRank) {
  const auto verdict = judged("conservation", "causal/bf16", [](auto&, Communicator& comm, auto&, RankOutput& o) {
    if (comm.rank() == 1) o.dv.zero_();
  });
  EXPECT_EQ(verdict.status, Status::kFail);
  EXPECT_THAT(verdict.findings, testing::Contains(testing::AllOf(testing::StartsWith("C1 sum dV = sum dO"),
                                                                testing::HasSubstr("kv head"))));
  EXPECT_THAT(verdict.findings, testing::Contains("rank 1: dv is zero everywhere"));
}

TEST(ConservationOracle, RejectsOtherShapesAndOtherSeeds) {
  EXPECT_EQ(status("conservation", "causal/bf16",
                   [](auto&, auto&, auto&, RankOutput& o) { o.dk = o.dk.narrow(1, 0, 1); }),
            Status::kFail);
  const Spoil stale = [](const Case& c, Communicator& comm, const RankInput& input, RankOutput& o) {
    Case other = c;
    ++other.seed;
    o = parity::context_parallel(comm, c, {parity::problem_of(other, input.positions), input.positions});
  };
  EXPECT_EQ(status("conservation", "causal/bf16", stale), Status::kFail);
}

// C2 where rotated q and k are shown; without them it is not applicable and the others judge.
TEST(ConservationOracle, NeedsRotatedTensorsForC2) {
  const auto verdict = judged("conservation", "causal/float32/rope:half[10000]",
                              [](auto&, auto&, auto&, RankOutput& o) { o.q_rotated.reset(), o.k_rotated.reset(); });
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_EQ(verdict.tensors.at(1).status, Status::kNotApplicable);
  EXPECT_EQ(verdict.tensors.at(2).status, Status::kPass);
}

TEST(Adjoint, RejectsAnotherDv) {
  EXPECT_EQ(status("adjoint", "causal/bf16",
                   [](auto&, auto&, auto&, RankOutput& o) { o.dv = o.dv.roll(1, 2); }),
            Status::kFail);
  EXPECT_EQ(status("adjoint", "causal/float32",
                   [](auto&, auto&, auto&, RankOutput& o) { o.dv.mul_(1.01); }),
            Status::kFail);
}

TEST(GradientCausality, RejectsALeak) {
  const auto leak = [](at::Tensor RankOutput::*to, at::Tensor parity::Problem::*from) {
    return Spoil([=](auto&, auto&, const RankInput& input, RankOutput& o) {
      (o.*to).add_((input.local.*from).nan_to_num(0).sum().to((o.*to).scalar_type()));
    });
  };
  EXPECT_EQ(status("gradient-causality", "causal/float32", leak(&RankOutput::dk, &parity::Problem::q)),
            Status::kFail);
  EXPECT_EQ(status("gradient-causality", "window[9]/bf16", leak(&RankOutput::dv, &parity::Problem::d_o)),
            Status::kFail);
}

TEST(GradientScale, RejectsWhatIsNotLinear) {
  EXPECT_EQ(status("gradient-scale", "full/bf16",
                   [](auto&, auto&, auto&, RankOutput& o) { o.dq.add_(0.01); }),
            Status::kFail);
  EXPECT_EQ(status("gradient-scale", "full/float32",
                   [](auto&, auto&, auto&, RankOutput& o) { o.dk.clamp_(-0.5, 0.5); }),
            Status::kFail);
}

TEST(DifferenceQuotient, RejectsAGradientThatIsABitOff) {
  for (at::Tensor RankOutput::*gradient : {&RankOutput::dq, &RankOutput::dk, &RankOutput::dv})
    EXPECT_EQ(status("difference-quotient", "causal/float64",
                     [=](auto&, auto&, auto&, RankOutput& o) { (o.*gradient).mul_(1.0001); }),
              Status::kFail);
}

}  // namespace
}  // namespace ringcheck
