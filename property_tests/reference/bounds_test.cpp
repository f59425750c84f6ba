// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "property_tests/cp/rotation/emulated_ring.h"
#include "property_tests/reference/reference_problems.h"
#include "reference/errors/bounds.h"
#include "reference/rope.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;

constexpr Shape kShape{.batch = 1, .q_heads = 4, .kv_heads = 2, .seq = 96, .dim = 32, .dim_v = 16};
constexpr double kHard = 1.001;  // of the bound: the formulas are first-order
constexpr double kStat = 8;      // of sigma

std::vector<Arithmetic> arithmetics() {
  return {{"bf16", at::kBFloat16, at::kFloat, true, false},
          {"fp16", at::kHalf, at::kFloat, true, false},
          {"bf16_wide_operands", at::kBFloat16, at::kFloat, false, false},
          {"bf16_partials", at::kBFloat16, at::kFloat, true, true},
          {"fp32", at::kFloat, at::kFloat, false, false},
          {"fp32_differences", at::kFloat, at::kFloat, false, false, true},
          {"fp64", at::kDouble, at::kDouble, false, false}};
}

// Every mask with the default data, two with the others.
std::vector<std::pair<std::string, Mask>> masks_for(Family family) {
  auto all = masks(kShape.seq);
  if (family != Family::kSpread3)
    all.resize(2);
  return all;
}

struct Claim {
  Inputs inputs;
  Arithmetic arithmetic;
  Judgement judged;
  Tensors found;
};

Claim claim(const Arithmetic& arithmetic, Family family, const Mask& mask, int world,
            uint64_t seed) {
  const Inputs inputs = draw(kShape, mask, seed, family, arithmetic.storage);
  return {inputs, arithmetic, judge(inputs, arithmetic.contract(), world, Rope{}),
          emulated_ring(inputs, arithmetic, world)};
}

double rms_z(const Claim& c, Field field) {
  const at::Tensor sigma = c.judged.sigma.*field;
  const at::Tensor z = quotient(c.found.*field, c.judged.value.*field, sigma);
  return std::sqrt((z.square().sum() / (sigma > 0).sum()).item<double>());
}

class Families : public testing::TestWithParam<std::tuple<Arithmetic, Family>> {};

// A correct implementation stays within the bound and within 8 sigma, whatever the data, the mask
// and the number of partial results.
TEST_P(Families, CorrectRingStaysWithinBounds) {
  const auto& [arithmetic, family] = GetParam();
  std::map<std::string, double> seen;
  for (const auto& [name, mask] : masks_for(family))
    for (const int world : {1, 4}) {
      const Claim c = claim(arithmetic, family, mask, world, 7 + world);
      EXPECT_EQ(excess(c.found, c.judged.value, c.judged.bound, kHard), "") << name;
      EXPECT_EQ(excess(c.found, c.judged.value, c.judged.sigma, kStat), "") << name;
      for (const auto& [tensor, field] : kFields) {
        const at::Tensor &x = c.found.*field, &y = c.judged.value.*field;
        const auto note = [&](const std::string& what, double value) {
          double& largest = seen[std::string(tensor) + "_" + what];
          largest = std::max(largest, value);
        };
        note("error_over_bound", worst(x, y, c.judged.bound.*field));
        note("max_z", worst(x, y, c.judged.sigma.*field));
        note("rms_z", rms_z(c, field));
      }
    }
  for (const auto& [what, value] : seen)
    RecordProperty(what, std::to_string(value));
}

// A gradient of nothing but zeros is found, unless zero is the truth.
TEST_P(Families, ZeroGradientsAreFound) {
  const auto& [arithmetic, family] = GetParam();
  const Claim c = claim(arithmetic, family, {Causal{}, kShape.seq}, 4, 3);
  for (const Field field : {&Tensors::dq, &Tensors::dk, &Tensors::dv}) {
    const at::Tensor &truth = c.judged.value.*field, zeros = at::zeros_like(truth);
    if (family == Family::kOnes && field != &Tensors::dv) {
      EXPECT_LE(worst(zeros, truth, c.judged.bound.*field), 1);
      continue;
    }
    EXPECT_GT(worst(zeros, truth, c.judged.sigma.*field), kStat);
    if (family == Family::kOffset)
      continue;  // delta is large, and so is its worst case
    EXPECT_GT(worst(zeros, truth, c.judged.bound.*field), kHard);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Families, testing::Combine(testing::ValuesIn(arithmetics()), testing::ValuesIn(kFamilies)),
    [](const auto& info) {
      return std::get<0>(info.param).name + "_" + name_of(std::get<1>(info.param));
    });

class Planted : public testing::TestWithParam<Arithmetic> {
 protected:
  std::string hard(const Tensors& found) const {
    return excess(found, clean.judged.value, clean.judged.bound, kHard);
  }
  // The results with one element of one tensor changed.
  Tensors changed(Field field, const at::Tensor& index, double factor) const {
    Tensors found = clean.found;
    const at::Tensor flat = (found.*field).flatten().clone();
    flat[index.item<int64_t>()] *= factor;
    found.*field = flat.view_as(found.*field);
    return found;
  }

  const Claim clean = claim(GetParam(), Family::kSpread3, {Causal{}, kShape.seq}, 4, 11);
};

TEST_P(Planted, NothingIsNotFound) { EXPECT_EQ(hard(clean.found), ""); }

TEST_P(Planted, ScaleIsFound) {
  Inputs inputs = clean.inputs;
  inputs.scale *= 1.001;
  EXPECT_THAT(hard(emulated_ring(inputs, GetParam(), 4)), testing::HasSubstr("LSE"));
}

TEST_P(Planted, LseIsFound) {
  Tensors found = clean.found;
  found.lse = found.lse + 0.01;
  EXPECT_THAT(hard(found), testing::HasSubstr("LSE"));
}

TEST_P(Planted, TwentyPerCentOfTheLargestElementAreFound) {
  for (const auto& [name, field] : kFields) {
    const at::Tensor index = (clean.found.*field).flatten().abs().argmax();
    EXPECT_THAT(hard(changed(field, index, 1.2)), testing::HasSubstr(name));
  }
}

TEST_P(Planted, NanIsFound) {
  for (const auto& [name, field] : kFields) {
    const at::Tensor index = at::scalar_tensor((clean.found.*field).numel() / 2, at::kLong);
    EXPECT_THAT(hard(changed(field, index, NAN)), testing::HasSubstr(name));
  }
}

// Sigma is no wild guess: errors are not below a twentieth of what is predicted.
TEST_P(Planted, SigmaIsOfTheRightSize) {
  for (const auto& [name, field] : kFields) {
    EXPECT_GT(rms_z(clean, field), 0.05) << name;
    EXPECT_LT(rms_z(clean, field), 1) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Planted, testing::ValuesIn(arithmetics()),
                         [](const auto& info) { return info.param.name; });

// An implementation that is less exact than its contract says.
TEST(Bounds, CoarserArithmeticIsFound) {
  for (const at::ScalarType promised : {at::kFloat, at::kDouble}) {
    const Arithmetic contract{"promised", promised, promised, false, false};
    const Arithmetic coarser{"done", at::kBFloat16, at::kFloat, false, false};
    const Inputs inputs = draw(kShape, {Causal{}, kShape.seq}, 11, Family::kSpread3, at::kBFloat16);
    const Judgement judged = judge(inputs, contract.contract(), 4, Rope{});
    EXPECT_NE(excess(emulated_ring(inputs, coarser, 4), judged.value, judged.bound, kHard), "");
  }
}

// Where O is small beside a partial result, a merge by differences errs by a rounding of that one.
// Queries that see as many keys as there are, and a power of two of them, have that term, too.
TEST(Bounds, AMergeByDifferencesHasATermOfItsOwn) {
  const Arithmetic ring{"fp32_differences", at::kFloat, at::kFloat, false, false, true};
  for (const bool full : {false, true}) {
    Shape shape = kShape;
    if (full) shape.seq = 64;
    Inputs inputs = draw(shape, full ? Mask{Full{}, shape.seq} : Mask{Causal{}, shape.seq}, 11, Family::kWide, at::kFloat);
    inputs.scale *= 8;  // one key has nearly all the weight
    const Tensors found = emulated_ring(inputs, ring, 4);
    const Judgement judged = judge(inputs, ring.contract(), 4, Rope{});
    EXPECT_EQ(excess(found, judged.value, judged.sigma, kStat), "") << full;
    Contract by_weights = ring.contract();
    by_weights.u_d = 0;
    const Judgement strict = judge(inputs, by_weights, 4, Rope{});
    EXPECT_NE(excess(found, strict.value, strict.sigma, kStat), "") << full;
  }
}

// Rotation mixes the errors of a pair of channels: the bound of the rotated gradient, carried back,
// is that of the gradient, and the truth is turned back exactly.
TEST(Bounds, GradientsAreTurnedBack) {
  const Inputs in = draw(kShape, {Causal{}, kShape.seq}, 5);
  Rope rope;
  rope.pairing = Rope::Pairing::kHalf;
  Contract contract;
  contract.u_o = contract.eta_e = 0;
  const Judgement plain = judge(in, contract, 2, Rope{}), turned = judge(in, contract, 2, rope);
  for (const Field field : {&Tensors::dq, &Tensors::dk}) {
    EXPECT_TRUE((turned.value.*field).equal(rotate_back(plain.value.*field, in.mask, rope)));
    // Position 0 is not turned, but still goes through the arithmetic.
    const int64_t half = kShape.dim / 2;
    const auto first = [&](const Tensors& t) { return (t.*field).select(2, 0); };
    const at::Tensor size = first(plain.value).abs();
    const at::Tensor pair = size.narrow(-1, 0, half) + size.narrow(-1, half, half);
    EXPECT_TRUE(at::allclose(first(turned.bound),
                             first(plain.bound) + 4 * contract.u_a * at::cat({pair, pair}, -1)));
    // Variances of a pair keep their sum, but for the rounding of the rotation.
    const auto sum = [&](const Tensors& t) {
      const at::Tensor squares = (t.*field).square();
      return squares.narrow(-1, 0, half) + squares.narrow(-1, half, half);
    };
    const at::Tensor rounding = 2 * 16 * contract.u_a * contract.u_a / 3 *
                                ((plain.value.*field).square().narrow(-1, 0, half) +
                                 (plain.value.*field).square().narrow(-1, half, half));
    EXPECT_TRUE(at::allclose(sum(turned.sigma), sum(plain.sigma) + rounding, 1e-9, 0));
  }
  EXPECT_TRUE(turned.value.dv.equal(plain.value.dv));
  EXPECT_TRUE(turned.bound.dv.equal(plain.bound.dv));
}

// By an angle that may be off by e, a pair (a, b) is off by up to e (|a| + |b|) more.
TEST(Bounds, GradientsAreTurnedBackByAnglesThatMayBeOff) {
  const Inputs in = draw(kShape, {Causal{}, kShape.seq}, 5);
  Rope rope;
  rope.pairing = Rope::Pairing::kHalf;
  Contract contract;
  contract.u_o = contract.eta_e = 0;
  const Judgement exact = judge(in, contract, 2, rope);
  Rope coarse = rope;
  coarse.u_angle = 0x1p-20;
  const Judgement judged = judge(in, contract, 2, coarse), plain = judge(in, contract, 2, Rope{});
  const at::Tensor more = angle_errors(in.mask, coarse, kShape.dim, at::kCPU) -
                          angle_errors(in.mask, rope, kShape.dim, at::kCPU);
  for (const Field field : {&Tensors::dq, &Tensors::dk}) {
    EXPECT_TRUE((judged.value.*field).equal(exact.value.*field));
    const at::Tensor off = mix_pairs((plain.value.*field).abs(), rope.pairing, more, more, more);
    EXPECT_FALSE(at::allclose(judged.bound.*field, exact.bound.*field, 1e-3, 0));
    EXPECT_TRUE(at::allclose(judged.bound.*field, exact.bound.*field + off, 1e-12, 0));
    const at::Tensor more_sigma = judged.sigma.*field - exact.sigma.*field;
    EXPECT_TRUE(more_sigma.ge(0).all().item<bool>());
    EXPECT_TRUE(more_sigma.gt(0).any().item<bool>());
  }
}

// Products below 2^-126 that a matrix unit flushes to zero, each of a sum, are within the bound, and
// twice as much is not.
TEST(Bounds, SumsOfProductsThatUnderflowAreWithin) {
  Inputs in = draw(kShape, {Full{}, kShape.seq}, 5, Family::kSpread3, at::kBFloat16);
  in.q.zero_();  // P = 1 / 96
  in.v.fill_(0x1p-121);
  in.d_o.fill_(0x1p-121);
  const Contract contract = arithmetics().front().contract();
  const Judgement judged = judge(in, contract, 1, Rope{});
  const auto keys = static_cast<double>(kShape.seq), queries = 2 * keys;  // two heads of queries
  for (const auto& [field, terms] :
       {std::pair{&Tensors::o, keys}, std::pair{&Tensors::dv, queries}}) {
    const at::Tensor &truth = judged.value.*field, &bound = judged.bound.*field;
    ASSERT_LT(0x1p-121 / keys, contract.eta_e);
    ASSERT_GT(truth.min().item<double>(), 10 * contract.eta_e);
    EXPECT_LE(worst(at::zeros_like(truth), truth, bound), 1);
    EXPECT_GT(worst(truth - 2 * terms * contract.eta_e, truth, bound), 1);
  }
}

// Against float64, the reference errs as much as what it judges.
TEST(Bounds, Float64IsJudgedByTwoErrors) {
  const Inputs in = draw(kShape, {Causal{}, kShape.seq}, 5);
  Contract nearly = float64_contract();
  nearly.u_a *= 1 + 0x1p-40;
  const Judgement one = judge(in, nearly, 2, Rope{});
  const Judgement two = judge(in, float64_contract(), 2, Rope{});
  for (const auto& [name, field] : kFields) {
    EXPECT_TRUE(at::allclose(two.bound.*field, 2 * (one.bound.*field), 1e-6, 0)) << name;
    EXPECT_TRUE(at::allclose(two.sigma.*field, std::sqrt(2) * (one.sigma.*field), 1e-6, 0)) << name;
  }
}

}  // namespace
}  // namespace ringcheck::reference_testing
