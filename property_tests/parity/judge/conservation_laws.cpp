// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The conservation laws hold for correct attention and only for that.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cp/layout/shard.h"
#include "parity/judge/comparison.h"
#include "parity/judge/conservation/conservation.h"
#include "parity/judge/conservation/conservation_evidence.h"
#include "parity/subject/contract.h"
#include "property_tests/cp/rotation/emulated_ring.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"
#include "property_tests/reference/reference_problems.h"
#include "reference/rope.h"

namespace ringcheck {
namespace {

using parity::AttentionShard;
using parity::conservation_sums;
using parity::ConservationSums;
using parity::LawVerdict;
using parity::Status;
using reference_testing::Arithmetic;
using reference_testing::Family;
using reference_testing::Mistake;

const std::vector<Arithmetic> kArithmetics{{"bf16", at::kBFloat16, at::kFloat, true, false},
                                           {"fp16", at::kHalf, at::kFloat, true, false},
                                           {"bf16 partials", at::kBFloat16, at::kFloat, true, true},
                                           {"fp32", at::kFloat, at::kFloat, false, false},
                                           {"fp64", at::kDouble, at::kDouble, false, false}};

AttentionShard shard_of(const reference::Inputs& in, const reference::Tensors& out) {
  const auto tokens = [&](const at::Tensor& x) {
    return zero_pads(x, in.mask, {{0, in.mask.length}});
  };
  return {tokens(in.q), tokens(in.d_o), out.o,  out.dq,           tokens(in.k),
          tokens(in.v), out.dk,         out.dv, out.lse.isneginf()};
}

// As `guard` judges: nothing is known of the implementation but its dtype.
std::vector<LawVerdict> judged(const AttentionShard& shard, const reference::Inputs& in,
                               at::ScalarType dtype) {
  return judge_conservation(conservation_sums(shard),
                            {parity::loosest_contract({dtype}), in.scale, 64, true, {}, 64.0 * in.q.size(1) / in.k.size(1)});
}

double worst(const std::vector<LawVerdict>& laws) {
  double z = 0;
  for (const LawVerdict& law : laws)
    z = std::max(z, law.z);
  return z;
}

// Sums of parts are the sums of the whole, whichever way the slots are dealt and however many of them are
// added up at a time, up to the rounding of float64 additions.
RC_GTEST_PROP(Conservation, SumsOfShardsAreSumsOfTheWhole, ()) {
  const gen::Cut cut = *gen::cut();
  const reference::Inputs in = reference_testing::draw(
      {.seq = cut.length()}, {Full{}, cut.length()}, *gen::seed());
  AttentionShard all = shard_of(in, reference::naive_attention(in));
  all.empty_rows = all.o.select(3, 0).gt(0.2);  // whichever they are
  all.dq_size = 3 * all.dq, all.dk_size = 2 * all.dk;
  const ConservationSums whole = conservation_sums(all);
  ConservationSums sums;
  const int64_t most = *gen::between(1, 1 << 10);  // elements at a time
  for (const Positions& own : cut.layout().queries) sums = sums + parity::sums_of_slots(all, own, most);
  const auto equal = [](const at::Tensor& a, const at::Tensor& b, const at::Tensor& squares) {
    return (a - b).abs().le(1e-12 * (1 + squares.sqrt() * 32)).all().item<bool>();
  };
  RC_ASSERT(equal(sums.dv, whole.dv, whole.dv_squares));
  RC_ASSERT(equal(sums.d_o, whole.d_o, whole.d_o_squares));
  RC_ASSERT(equal(sums.dk, whole.dk, whole.dk_squares));
  RC_ASSERT(equal(sums.dq_q, whole.dq_q, whole.dq_q_squares));
  RC_ASSERT(equal(sums.dv_v, whole.dv_v, whole.dv_v_squares));
  using S = ConservationSums;
  for (const auto squares : {&S::dq_q_squares, &S::dk_squares, &S::dk_k_squares})
    RC_ASSERT(equal(sums.*squares, whole.*squares, (whole.*squares).square()));
  RC_ASSERT(sums.k_largest.equal(whole.k_largest));
  RC_ASSERT(sums.keys == whole.keys);
  RC_ASSERT(sums.queries >= whole.queries);  // pad slots are counted, and add nothing else
}

// A correct implementation: every rounding of kernels that exist, every mask and world.
RC_GTEST_PROP(Conservation, CorrectAttentionKeepsTheLaws, ()) {
  const Arithmetic arithmetic = *gen::choice(kArithmetics);
  const int64_t length = *gen::between(20, 160);
  const auto masks = reference_testing::masks(length);
  const Mask mask = masks[*gen::between(0, static_cast<int64_t>(masks.size()) - 1)].second;
  const auto family = reference_testing::kFamilies[*gen::between(0, 8)];
  const reference::Inputs in = reference_testing::draw(
      {.batch = 2, .seq = length, .dim = 8 * *gen::between(1, 8), .dim_v = 4 * *gen::between(1, 16)},
      mask, *gen::seed(), family, arithmetic.storage);
  const int world = *gen::world();
  const auto found = emulated_ring(in, arithmetic, world);
  const auto laws = judged(shard_of(in, found), in, arithmetic.storage);
  RC_CLASSIFY(worst(laws) > 2, "z above 2");
  RC_CLASSIFY(worst(laws) > 3, "z above 3");
  RC_CLASSIFY(worst(laws) > 4, "z above 4");
  for (const LawVerdict& law : laws)
    RC_ASSERT(law.status != Status::kFail);
}

// A correct run, and how it is judged after `spoil`.
struct Example {
  Arithmetic arithmetic;
  reference::Inputs in = reference_testing::draw({.seq = 256, .dim = 64, .dim_v = 64},
                                                 {Causal{}, 256}, 5, Family::kNormal,
                                                 arithmetic.storage);
  AttentionShard shard = shard_of(in, emulated_ring(in, arithmetic, 4));

  std::vector<LawVerdict> judged_after(const std::function<void(AttentionShard&)>& spoil) const {
    AttentionShard spoilt = shard;
    for (at::Tensor* x : {&spoilt.o, &spoilt.dq, &spoilt.dk, &spoilt.dv}) *x = x->clone();
    spoil(spoilt);
    return judged(spoilt, in, arithmetic.storage);
  }
};

bool fails(const std::vector<LawVerdict>& laws, const std::string& law) {
  return std::ranges::any_of(
      laws, [&](const LawVerdict& l) { return l.law == law && l.status == Status::kFail; });
}

using Tensor = at::Tensor AttentionShard::*;
struct Judged {
  const char* name;
  Tensor tensor;
  const char* law;  // that must notice
};
const Judged kJudged[] = {{"o", &AttentionShard::o, "C4"},
                          {"dq", &AttentionShard::dq, "C3"},
                          {"dk", &AttentionShard::dk, "C3"},
                          {"dv", &AttentionShard::dv, "C1"}};

// Every mistake breaks a law, in every arithmetic.
TEST(Conservation, MistakesBreakALaw) {
  for (const Arithmetic& arithmetic : kArithmetics) {
    const Example example{arithmetic};
    for (const Mistake mistake : reference_testing::kMistakes) {
      const auto found = emulated_ring(example.in, arithmetic, 4, mistake);
      const auto laws = judged(shard_of(example.in, found), example.in, arithmetic.storage);
      for (const LawVerdict& law : laws)
        RecordProperty(arithmetic.name + ", " + name_of(mistake) + ", " + law.law, law.z);
      EXPECT_GT(worst(laws), parity::kStat) << name_of(mistake) << " in " << arithmetic.name;
    }
  }
}

// Gradients of the last rank carried back by the position after their own.
TEST(Conservation, RotationByTheWrongPositionBreaksC3) {
  reference::Rope rope;
  rope.pairing = reference::Rope::Pairing::kHalf;
  for (const Arithmetic& arithmetic : kArithmetics) {
    const Example example{arithmetic};
    const auto turned = [&](const at::Tensor& x) {
      const at::Tensor later = at::cat({at::zeros_like(x.narrow(2, 0, 1)), x}, 2);
      return rotate_back(reference::rotate(later, {Causal{}, 257}, rope).narrow(2, 1, 256),
                         {Causal{}, 256}, rope);
    };
    const auto laws = example.judged_after([&](AttentionShard& x) {
      x.dq.narrow(2, 192, 64).copy_(turned(x.dq).narrow(2, 192, 64));
    });
    EXPECT_TRUE(fails(laws, "C3")) << arithmetic.name << " z " << laws[2].z;
    RecordProperty(arithmetic.name + ", rotation by one more", laws[2].z);
  }
}

TEST(Conservation, TheKeyHeadIsNamed) {
  const Example example{kArithmetics.back()};
  for (const int64_t head : {0, 1})
    EXPECT_EQ(example.judged_after([=](AttentionShard& x) { x.dv.select(1, head).mul_(2); }).at(0).kv_head, head);
}

// What is not an attempt at the answer at all is refused, tensor by tensor.
TEST(Conservation, SabotageIsFound) {
  for (const Arithmetic& arithmetic : kArithmetics) {
    const Example example{arithmetic};
    const reference::Inputs other = reference_testing::draw(
        {.seq = 256, .dim = 64, .dim_v = 64}, example.in.mask, 6, Family::kNormal,
        arithmetic.storage);
    const AttentionShard stale = shard_of(other, emulated_ring(other, arithmetic, 4));
    for (const auto& [name, tensor, law] : kJudged) {
      const std::string what = std::string(name) + " in " + arithmetic.name;
      const auto after = [&](const std::function<void(at::Tensor&)>& spoil) {
        return example.judged_after([&](AttentionShard& x) { spoil(x.*tensor); });
      };
      EXPECT_TRUE(fails(after([](at::Tensor& x) { x.zero_(); }), law)) << "zero " << what;
      EXPECT_TRUE(fails(after([](at::Tensor& x) { x.fill_(0.5); }), law)) << "constant " << what;
      EXPECT_TRUE(fails(after([&](at::Tensor& x) { x = stale.*tensor; }), law)) << "stale " << what;
      EXPECT_TRUE(fails(after([](at::Tensor& x) { x = x.flip(1); }), law)) << "heads " << what;
      for (const double wrong : {double{NAN}, double{INFINITY}})
        EXPECT_TRUE(fails(after([=](at::Tensor& x) { x[0][1][255][63] = wrong; }), law))
            << wrong << " in " << what;
    }
    for (const auto& law : example.judged_after([](AttentionShard&) {}))
      EXPECT_EQ(law.status, Status::kPass) << law.text();
    for (const auto& law : judged(stale, other, arithmetic.storage))
      EXPECT_EQ(law.status, Status::kPass) << law.text();
  }
}

// A NaN among the inputs is no way to pass either.
TEST(Conservation, NanAmongTheInputsFails) {
  const Example example{kArithmetics[0]};
  for (const Tensor tensor : {&AttentionShard::q, &AttentionShard::k, &AttentionShard::v,
                              &AttentionShard::d_o})
    for (const double wrong : {double{NAN}, double{INFINITY}}) {
      const auto laws = example.judged_after([&](AttentionShard& x) {
        x.*tensor = (x.*tensor).clone();
        (x.*tensor)[0][1][7][3] = wrong;
      });
      EXPECT_GT(worst(laws), parity::kStat);
    }
}

// Two wrongs that agree: no law is broken, and none may claim to have judged.
TEST(Conservation, ZerosThatAgreeShowNothing) {
  const Example example{kArithmetics[0]};
  const auto zero_scores = example.judged_after([](AttentionShard& x) { x.dq.zero_(), x.dk.zero_(); });
  EXPECT_EQ(zero_scores[2].status, Status::kInconclusive);
  EXPECT_EQ(zero_scores[2].counted, 0);
  const auto zero_question = example.judged_after([](AttentionShard& x) {
    x.d_o = at::zeros_like(x.d_o);
    x.o.zero_(), x.dq.zero_(), x.dk.zero_(), x.dv.zero_();
  });
  for (const LawVerdict& law : zero_question)
    EXPECT_EQ(law.status, Status::kInconclusive) << law.law;
}

// Where only unrotated q and k are known, C2 is not judged and the rest still is.
TEST(Conservation, UnrotatedTensorsKeepTheOtherLaws) {
  Example example{kArithmetics[4]};
  reference::Rope rope;
  rope.pairing = reference::Rope::Pairing::kInterleaved;
  for (const Tensor tensor : {&AttentionShard::q, &AttentionShard::k, &AttentionShard::dq,
                              &AttentionShard::dk})
    example.shard.*tensor = rotate_back(example.shard.*tensor, example.in.mask, rope);
  parity::Arithmetic how{parity::loosest_contract({at::kFloat}), example.in.scale, 4, false};
  const auto laws = judge_conservation(conservation_sums(example.shard), how);
  EXPECT_EQ(laws[0].status, Status::kPass);
  EXPECT_EQ(laws[1].status, Status::kNotApplicable);
  EXPECT_EQ(laws[2].status, Status::kPass) << laws[2].text();
  EXPECT_EQ(laws[3].status, Status::kPass);
  how.rotated = true;
  EXPECT_TRUE(fails(judge_conservation(conservation_sums(example.shard), how), "C2"));
}

// Each of many terms of a gradient is rounded to fp16 before they are added: among subnormal numbers all by the same step,
// which as many terms explain and one does not.
TEST(Conservation, CountsTheRoundingsOfTerms) {
  constexpr double kTerms = 400, kStep = 0x1p-25;
  reference::Inputs in = reference_testing::draw({.seq = 200}, {Full{}, 200}, 1);
  in.d_o = at::full_like(in.d_o, 1e-5);
  AttentionShard shard = shard_of(in, reference::naive_attention(in));
  at::manual_seed(1);
  shard.dv = shard.dv + at::randn_like(shard.dv) * (kStep * std::sqrt(kTerms / 3));
  reference::Contract contract = parity::loosest_contract({at::kHalf});
  contract.eta_o = kStep;
  const auto status = [&](double terms) {
    return judge_conservation(conservation_sums(shard), {contract, in.scale, 4, true, {}, terms})[0].status;
  };
  EXPECT_EQ(status(kTerms), Status::kPass);
  EXPECT_EQ(status(0), Status::kFail);
}

// Of nothing that is divided by the scale anything is left.
TEST(Conservation, HoldsAtAScaleOf0InHalfPrecision) {
  reference::Inputs in = reference_testing::draw({.seq = 40}, {Causal{}, 40}, 1);
  in.scale = 0;
  for (const LawVerdict& law : judged(shard_of(in, reference::naive_attention(in)), in, at::kHalf)) EXPECT_LT(law.z, 1);
}

}  // namespace
}  // namespace ringcheck
