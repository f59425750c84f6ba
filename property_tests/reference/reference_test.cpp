// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "property_tests/reference/reference_problems.h"
#include "reference/attention.h"
#include "reference/errors/bounds.h"
#include "reference/rope.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;

constexpr Shape kShape{.batch = 2, .q_heads = 6, .kv_heads = 2, .seq = 29, .dim = 8, .dim_v = 5};

at::Tensor numbers(const std::vector<double>& x) { return at::tensor(x, at::kDouble); }

Judgement exactly(const Inputs& inputs) { return judge(inputs, float64_contract(), 1, Rope{}); }

// The numbers of keys that the queries see, [seq, 1].
at::Tensor key_counts(const Mask& mask) {
  at::Tensor counts = at::zeros({mask.length, 1}, at::kDouble);
  for (int64_t q = 0; q < mask.length; ++q)
    for (int64_t k = 0; k < mask.length; ++k)
      counts[q] += double(visible(mask, q, k));
  return counts;
}

class Masks : public testing::TestWithParam<std::pair<std::string, Mask>> {
 protected:
  const Mask& mask() const { return GetParam().second; }
};

// The gradients are those of the loss <dO, O>: along a random direction u, the difference quotient
// is <gradient, u>. The quotients of two step widths tell how far either may be off.
TEST_P(Masks, GradientsAreDifferenceQuotients) {
  const Inputs in = draw(kShape, mask(), 17), direction = draw(kShape, mask(), 18);
  const Judgement judged = exactly(in);
  at::Tensor Inputs::*const inputs[] = {&Inputs::q, &Inputs::k, &Inputs::v};
  const Field gradients[] = {&Tensors::dq, &Tensors::dk, &Tensors::dv};
  for (int n = 0; n < 3; ++n) {
    const auto loss = [&](double step) {
      Inputs moved = in;
      moved.*inputs[n] = in.*inputs[n] + step * (direction.*inputs[n]);
      return (attention(moved).o * in.d_o).sum().item<double>();
    };
    const auto quotient_of = [&](double step) { return (loss(step) - loss(-step)) / (2 * step); };
    const double h = 0x1p-10;
    const double coarse = quotient_of(2 * h), fine = quotient_of(h);
    const double rounding = (in.d_o.abs() * judged.bound.o).sum().item<double>() / h;
    const double tolerance = std::abs(coarse - fine) + rounding;
    const double found = (judged.value.*gradients[n] * (direction.*inputs[n])).sum().item<double>();
    EXPECT_NEAR(found, fine, tolerance);
    EXPECT_GT(std::abs(found) * 1e-3, tolerance) << "this direction shows nothing";
  }
}

// All scores are 0: every query weighs what it sees alike.
TEST_P(Masks, ZeroQueriesTakeTheMean) {
  Inputs in = draw(kShape, mask(), 19);
  in.q.zero_();
  const Judgement judged = exactly(in);
  const at::Tensor n = key_counts(mask());  // [seq, 1]
  at::Tensor seen = at::zeros({kShape.seq, kShape.seq}, at::kDouble);
  for (int64_t q = 0; q < kShape.seq; ++q)
    for (int64_t k = 0; k < kShape.seq; ++k)
      seen[q][k] = double(visible(mask(), q, k));
  const at::Tensor mean = seen.matmul(in.v).repeat_interleave(3, 1) / n.clamp_min(1);
  const at::Tensor lse = n.log().squeeze(1).expand_as(judged.value.lse);

  EXPECT_LE(worst(judged.value.o, mean, judged.bound.o), 1);
  EXPECT_LE(worst(judged.value.lse, lse, judged.bound.lse), 1);
  EXPECT_TRUE(judged.value.dk.eq(0).all().item<bool>());
}

// All keys are equal: every query weighs what it sees alike, and dQ = 0.
TEST_P(Masks, EqualKeysTakeTheMean) {
  Inputs in = draw(kShape, mask(), 20), blank = in;
  in.k = in.k.narrow(2, 0, 1).expand_as(in.k).contiguous();
  blank.q = at::zeros_like(in.q);
  const Judgement judged = exactly(in), mean = exactly(blank);
  const at::Tensor score = (in.q * in.k.repeat_interleave(3, 1)).sum(-1) * in.scale;

  EXPECT_LE(worst(judged.value.o, mean.value.o, judged.bound.o), 1);
  EXPECT_LE(worst(judged.value.lse, mean.value.lse + score, judged.bound.lse), 1);
  EXPECT_LE(worst(judged.value.dq, at::zeros_like(in.q), judged.bound.dq), 1);
}

// One key that each query sees is far above the others: O is its value, and no score matters.
TEST_P(Masks, DominatingKeyTakesAll) {
  Inputs in = draw(kShape, mask(), 21);
  at::Tensor one_hot = at::zeros_like(in.q);
  in.k.zero_();
  for (int64_t slot = 0; slot < kShape.seq; ++slot) {
    in.k.select(2, slot).select(-1, 0) = double(slot);  // the last visible key is the largest
    one_hot.select(2, slot).select(-1, 0) = 1e4;
  }
  in.q = one_hot;
  in.scale = 1;
  const Judgement judged = exactly(in);
  const Tensors& found = judged.value;
  const at::Tensor values = in.v.repeat_interleave(3, 1);
  for (int64_t q = 0; q < kShape.seq; ++q) {
    int64_t last = -1;
    for (int64_t k = 0; k < kShape.seq; ++k)
      if (visible(mask(), q, k))
        last = k;
    if (last < 0)
      continue;
    EXPECT_TRUE(found.o.select(2, q).equal(values.select(2, last)));
    EXPECT_TRUE(found.lse.select(2, q).eq(1e4 * double(last)).all().item<bool>());
  }
  EXPECT_LE(worst(found.dq, at::zeros_like(in.q), judged.bound.dq), 1);
  EXPECT_LE(worst(found.dk, at::zeros_like(in.k), judged.bound.dk), 1);
}

// Softmax ignores the scale of nothing: (c q, k / c) is the same problem, to the last bit.
TEST_P(Masks, PowersOfTwoMoveFreely) {
  const Inputs in = draw(kShape, mask(), 22);
  Inputs moved = in;
  moved.q = in.q * 4;
  moved.k = in.k / 4;
  const Tensors a = attention(in), b = attention(moved);
  EXPECT_TRUE(same_bits(a.o, b.o) && same_bits(a.lse, b.lse) && same_bits(a.dv, b.dv));
  EXPECT_TRUE(same_bits(a.dq, b.dq * 4) && same_bits(a.dk, b.dk / 4));
}

// Query heads that share keys are query heads with equal keys of their own, and gradients add.
TEST_P(Masks, SharedKeysAreRepeatedKeys) {
  const Inputs in = draw(kShape, mask(), 23);
  Inputs repeated = in;
  repeated.k = in.k.repeat_interleave(3, 1);
  repeated.v = in.v.repeat_interleave(3, 1);
  const Judgement judged = exactly(in);
  Tensors found = attention(repeated);
  found.dk = found.dk.view({kShape.batch, kShape.kv_heads, 3, kShape.seq, kShape.dim}).sum(2);
  found.dv = found.dv.view({kShape.batch, kShape.kv_heads, 3, kShape.seq, kShape.dim_v}).sum(2);
  EXPECT_EQ(excess(found, judged.value, judged.bound), "");
}

INSTANTIATE_TEST_SUITE_P(All, Masks, testing::ValuesIn(masks(kShape.seq)), [](const auto& info) {
  std::string name = info.param.first;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

// A query that sees nobody but itself: O = V, LSE = its score, dS = 0 and dV = dO, all exactly.
TEST(Attention, WindowOfOneCopies) {
  const Shape shape{.batch = 1, .q_heads = 2, .kv_heads = 2, .seq = 50, .dim = 8, .dim_v = 99};
  const Inputs in = draw(shape, {Window{1}, shape.seq}, 1);
  for (const int64_t tile : {7, 50}) {
    const Tensors found = attention(in, {.rows = tile, .columns = tile});
    EXPECT_TRUE(found.o.equal(in.v));
    EXPECT_TRUE(found.dv.equal(in.d_o));
    EXPECT_TRUE(found.dq.eq(0).all().item<bool>());
    EXPECT_TRUE(found.dk.eq(0).all().item<bool>());
  }
}

// Two keys by hand: scores log 3 and 0 weigh 3/4 and 1/4.
TEST(Attention, TwoKeysByHand) {
  const auto column = [](double a, double b) { return numbers({a, b}).view({1, 1, 2, 1}); };
  const Inputs in{.q = column(0, 1),
                  .k = column(std::log(3.), 0),
                  .v = column(8, 4),
                  .d_o = column(0, 1),
                  .mask = {Full{}, 2},
                  .scale = 1};
  const Judgement judged = exactly(in);
  // Row 1: delta = 7, dS = (3/4 (8 - 7), 1/4 (4 - 7)) = (3/4, -3/4).
  const Tensors expected{column(6, 7), column(std::log(2.), std::log(4.)).squeeze(-1),
                         column(0, 0.75 * std::log(3.)), column(0.75, -0.75), column(0.75, 0.25)};
  EXPECT_EQ(excess(judged.value, expected, judged.bound), "");
}

TEST(Attention, CountsPairsInClosedForm) {
  const int64_t S = 29;
  const auto pairs = [](const Mask& mask) { return key_counts(mask).sum().item<double>(); };
  EXPECT_EQ(pairs({Full{}, S}), S * S);
  EXPECT_EQ(pairs({Causal{}, S}), S * (S + 1) / 2);
  EXPECT_EQ(pairs({Window{7}, S}), 7 * S - 7 * 6 / 2);
  EXPECT_EQ(pairs({Window{S + 5}, S}), S * (S + 1) / 2);
  EXPECT_EQ(pairs({Prefix{9}, S}), 9 * S + (S - 9) * (S - 8) / 2);
  const Documents documents = {{9, 12}, {1, 1}, {11, 13}};
  EXPECT_EQ(pairs({DocumentCausal{documents}, S}), 9 * 10 / 2 + 1 + 11 * 12 / 2);
  EXPECT_EQ(pairs({DocumentFull{documents}, S}), 81 + 1 + 121);
}

TEST(Attention, TakesAnyDtype) {
  const Inputs exact = draw(kShape, {Causal{}, kShape.seq}, 2, Family::kSpread3, at::kBFloat16);
  Inputs narrow = exact;
  for (at::Tensor Inputs::*x : {&Inputs::q, &Inputs::k, &Inputs::v, &Inputs::d_o})
    narrow.*x = (exact.*x).to(at::kBFloat16);
  const Tensors a = attention(exact), b = attention(narrow);
  for (const auto& [name, field] : kFields)
    EXPECT_TRUE(same_bits(a.*field, b.*field)) << name;
}

TEST(Attention, LeavesItsInputsAlone) {
  const Inputs in = draw(kShape, masks(kShape.seq)[4].second, 3);
  const at::Tensor before = at::cat({in.q.flatten(), in.k.flatten(), in.v.flatten()});
  judge(in, Contract{}, 2, Rope{});
  EXPECT_TRUE(same_bits(before, at::cat({in.q.flatten(), in.k.flatten(), in.v.flatten()})));
}

TEST(Attention, GivesSignsOfLife) {
  int ticks = 0;
  const Tiling tiling{.rows = 10, .columns = 10, .tick = [&] { ++ticks; }};
  attention(draw(kShape, {Full{}, kShape.seq}, 4), tiling);
  EXPECT_EQ(ticks, 2 * 9);  // forward and backward, nine tiles
  ticks = 0;
  attention(draw(kShape, {Causal{}, kShape.seq}, 4), tiling);
  EXPECT_EQ(ticks, 2 * 6);  // tiles above the diagonal are never visited
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const Inputs good = draw(kShape, {Full{}, kShape.seq}, 5);
  const auto refused = [&](auto spoil) {
    Inputs bad = good;
    spoil(bad);
    EXPECT_THROW(attention(bad), std::invalid_argument);
    EXPECT_THROW(judge(bad, Contract{}, 1, Rope{}), std::invalid_argument);
  };
  refused([](Inputs& x) { x.mask.length += 1; });
  refused([](Inputs& x) { x.q = x.q.narrow(1, 0, 5); });
  refused([](Inputs& x) { x.k = x.k.narrow(3, 0, 7); });
  refused([](Inputs& x) { x.v = x.v.narrow(1, 0, 1); });
  refused([](Inputs& x) { x.d_o = x.d_o.narrow(3, 0, 4); });
  refused([](Inputs& x) { x.d_o = x.d_o[0]; });
  EXPECT_THROW(attention(good, {.rows = 0}), std::invalid_argument);
}

TEST(Attention, RefusesToRunWithTf32) {
  const Inputs in = draw(kShape, {Full{}, kShape.seq}, 5);
  at::globalContext().setAllowTF32CuBLAS(true);
  EXPECT_THROW(attention(in), std::logic_error);
  at::globalContext().setAllowTF32CuBLAS(false);
  EXPECT_NO_THROW(attention(in));
}

// A key whose score is beyond e^709 of all others takes everything, in whichever tile of keys it is.
TEST(Reference, TheLargestScoreIsThatOfAllTiles) {
  constexpr int64_t kKeys = 1100;
  for (const int64_t largest : {0, 300, 700, 1099}) {
    Inputs in = draw({.batch = 1, .q_heads = 1, .kv_heads = 1, .seq = kKeys, .dim = 8, .dim_v = 5},
                     {Full{}, kKeys}, 23);
    in.q.fill_(1);
    in.k.zero_();
    in.k.select(2, largest).fill_(1e3);
    const Judgement judged = exactly(in);
    const at::Tensor value = in.v.select(2, largest).unsqueeze(2).expand_as(judged.value.o);
    EXPECT_TRUE(at::equal(judged.value.o, value)) << largest;
    EXPECT_TRUE(at::isfinite(judged.value.lse).all().item<bool>()) << largest;
    EXPECT_TRUE(at::isfinite(judged.value.dv).all().item<bool>()) << largest;
  }
}

}  // namespace
}  // namespace ringcheck::reference_testing
