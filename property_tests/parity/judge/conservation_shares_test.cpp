// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rank breaks a law, and whether ranks attend to each other at all.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "parity/judge/conservation/factors.h"
#include "parity/judge/conservation/shares.h"
#include "parity/subject/contract.h"
#include "property_tests/cp/rotation/emulated_ring.h"
#include "property_tests/reference/reference_problems.h"
#include "reference/attention.h"

namespace ringcheck {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using parity::AttentionShard;
using parity::Parts;
using Tensor = at::Tensor AttentionShard::*;

constexpr int kRanks = 4;
constexpr int64_t kSeq = 256, kOfRank = kSeq / kRanks;

struct Step {
  Mask mask{Causal{}, kSeq};
  reference::Inputs in = reference_testing::draw({.seq = kSeq, .dim = 32, .dim_v = 32}, mask, 7,
                                                 reference_testing::Family::kNormal, at::kFloat);
  AttentionShard all = [this] {
    const reference::Tensors out = reference::naive_attention(in);
    return AttentionShard{in.q, in.d_o, out.o, out.dq, in.k, in.v, out.dk, out.dv, {}};
  }();
  parity::Arithmetic how{parity::loosest_contract({at::kFloat}), in.scale, kRanks};

  Parts parts() const {
    Parts parts;
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto own = [&](const at::Tensor& x) { return x.narrow(2, rank * kOfRank, kOfRank); };
      parts.push_back(parity::conservation_sums({own(all.q), own(all.d_o), own(all.o), own(all.dq),
                                         own(all.k), own(all.v), own(all.dk), own(all.dv), {}}));
    }
    return parts;
  }
  at::Tensor own(Tensor tensor, int rank) {
    all.*tensor = (all.*tensor).clone();
    return (all.*tensor).narrow(2, rank * kOfRank, kOfRank);
  }
};

// What one rank spoils is found there, whichever it is, and the shares make the whole.
TEST(Shares, NameTheRank) {
  const struct {
    const char* name;
    Tensor tensor;
    size_t law;
  } table[] = {{"dv", &AttentionShard::dv, 0}, {"dk", &AttentionShard::dk, 1},
               {"dq", &AttentionShard::dq, 2}, {"dv", &AttentionShard::dv, 3},
               {"o", &AttentionShard::o, 3}};
  for (const auto& [name, tensor, law] : table)
    for (int rank = 0; rank < kRanks; ++rank) {
      Step step;
      EXPECT_THAT(shares_of(law, step.parts(), step.how), IsEmpty()) << "no law is broken";
      const at::Tensor own = step.own(tensor, rank);
      own.add_(own.flip(2).roll(1, -1) * 3);  // what has nothing to do with the right one
      const auto shares = shares_of(law, step.parts(), step.how);
      ASSERT_EQ(shares.size(), kRanks);
      EXPECT_EQ(std::ranges::max_element(shares) - shares.begin(), rank)
          << name << " law " << law << ": " << ::testing::PrintToString(shares);
      EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-6);
    }
}

TEST(Shares, NameTheRankThatIsNotFinite) {
  Step step;
  step.own(&AttentionShard::dv, 2)[0][1][3][5] = NAN;
  EXPECT_THAT(shares_of(0, step.parts(), step.how), ElementsAre(0, 0, 1, 0));
  step = {};
  step.own(&AttentionShard::dk, 1).zero_();
  EXPECT_THAT(suspects("rank 1", step.parts()[1]), ElementsAre("rank 1: dk is zero everywhere"));
  EXPECT_THAT(suspects("rank 0", step.parts()[0]), IsEmpty());
}

// Ranks that attend to their own tokens alone are a right attention of another mask: seen as such,
// and not where a single token crosses.
TEST(Shares, RanksThatDoNotAttendToEachOther) {
  const auto isolated = [](const Documents& documents) {
    Step step{.mask = {DocumentCausal{documents}, kSeq}};
    return parity::isolated(step.parts(), step.how);
  };
  EXPECT_TRUE(isolated({{64, 64}, {64, 64}, {64, 64}, {64, 64}}));
  EXPECT_TRUE(isolated({{32, 32}, {32, 32}, {64, 64}, {64, 64}, {64, 64}}));
  EXPECT_FALSE(isolated({{65, 65}, {63, 63}, {64, 64}, {64, 64}}));
  for (const Mask& mask : {Mask{Causal{}, kSeq}, Mask{Full{}, kSeq}, Mask{Window{16}, kSeq}}) {
    Step step{.mask = mask};
    EXPECT_FALSE(parity::isolated(step.parts(), step.how));
  }
  Step wrong{.mask = {DocumentCausal{{{64, 64}, {64, 64}, {64, 64}, {64, 64}}}, kSeq}};
  wrong.own(&AttentionShard::dv, 2).mul_(2);
  EXPECT_FALSE(parity::isolated(wrong.parts(), wrong.how)) << "and a wrong one is not";
  Step one;
  EXPECT_FALSE(parity::isolated({conservation_sums(one.all)}, one.how)) << "one part is no rank";
  Step nothing;
  nothing.all.d_o = at::zeros_like(nothing.all.d_o);
  for (const Tensor t : {&AttentionShard::o, &AttentionShard::dq, &AttentionShard::dk, &AttentionShard::dv})
    nothing.all.*t = at::zeros_like(nothing.all.*t);
  EXPECT_FALSE(parity::isolated(nothing.parts(), nothing.how)) << "zeros show nothing";
}

// What makes a law hold by a larger scale alone mends nothing: with small tensors in the place of
// others, every law would.
TEST(Mistakes, AreMendedBySmallerDifferences) {
  using parity::LawVerdict;
  using parity::Status;
  const auto laws = [](Status first, double difference, Status second) {
    LawVerdict one, other;
    one.status = first, one.difference = difference, other.status = second;
    return std::vector<LawVerdict>{one, other};
  };
  const auto broken = laws(Status::kFail, -1, Status::kPass);
  EXPECT_TRUE(mended(broken, laws(Status::kPass, 0.1, Status::kPass)));
  EXPECT_FALSE(mended(broken, laws(Status::kPass, 0.9, Status::kPass)));
  EXPECT_TRUE(explained(broken, laws(Status::kPass, 0.9, Status::kPass)));
  for (const auto& both : {parity::mended, parity::explained}) {
    EXPECT_FALSE(both(broken, laws(Status::kFail, 0.1, Status::kPass)));
    EXPECT_FALSE(both(broken, laws(Status::kPass, 0.1, Status::kFail)));
    EXPECT_FALSE(both(broken, laws(Status::kInconclusive, 0.1, Status::kPass)));
    EXPECT_FALSE(both(laws(Status::kPass, 1, Status::kPass), laws(Status::kPass, 0, Status::kPass)));
  }
  EXPECT_FALSE(mended(laws(Status::kFail, NAN, Status::kPass), laws(Status::kPass, 0, Status::kPass)));
}

// One unknown explains nothing where it has as many equations: one channel of one head.
TEST(Factors, NeedMoreEquationsThanOne) {
  Step step;
  step.in = reference_testing::draw({.q_heads = 1, .kv_heads = 1, .seq = kSeq, .dim = 32, .dim_v = 1},
                                    step.mask, 7, reference_testing::Family::kNormal, at::kFloat);
  const reference::Tensors out = reference::naive_attention(step.in);
  step.all = {step.in.q, step.in.d_o, out.o, out.dq, step.in.k, step.in.v, out.dk, out.dv * 3, {}};
  ASSERT_EQ(judge_conservation(sum(step.parts()), step.how)[0].status, parity::Status::kFail);
  EXPECT_THAT(fitting_factors(step.parts(), step.how), IsEmpty());
}

TEST(Factors, AreFoundOfAllAndOfOneRank) {
  Step all;
  all.all.dv = all.all.dv * 0.125;
  const auto common = fitting_factors(all.parts(), all.how);
  ASSERT_EQ(common.size(), 1);
  EXPECT_STREQ(common[0].tensor, "dv");
  EXPECT_EQ(common[0].part, -1);
  EXPECT_NEAR(common[0].value, 0.125, 8 * common[0].sigma);
  for (int rank = 0; rank < kRanks; ++rank) {
    Step one;
    one.own(&AttentionShard::dq, rank).mul_(-1);
    const auto own = fitting_factors(one.parts(), one.how);
    ASSERT_EQ(own.size(), 1);
    EXPECT_STREQ(own[0].tensor, "dq");
    EXPECT_EQ(own[0].part, rank);
    EXPECT_NEAR(own[0].value, -1, 8 * own[0].sigma);
  }
  EXPECT_THAT(fitting_factors(Step().parts(), Step().how), IsEmpty()) << "nothing is broken";
}

}  // namespace
}  // namespace ringcheck
