// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/rope.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ringcheck::reference {
namespace {

at::Tensor numbers(const std::vector<double>& x) { return at::tensor(x, at::kDouble); }

// Two positions by hand: base 16 and four channels have the frequencies 1 and 1/4.
TEST(RotaryEmbedding, TurnsPairsByHand) {
  Rope rope;
  rope.base = 16;
  const at::Tensor x = numbers({1., 2., 3., 4.}).expand({1, 1, 3, 4});
  const auto turned = [&](Rope::Pairing pairing) {
    rope.pairing = pairing;
    return rotate(x, {Full{}, 3}, rope)[0][0][2];
  };
  const auto at_two = [](double a, double b, double frequency) {
    const double angle = 2 * frequency;
    return std::pair{std::cos(angle) * a - std::sin(angle) * b,
                     std::sin(angle) * a + std::cos(angle) * b};
  };
  const auto [a0, a2] = at_two(1, 3, 1);
  const auto [a1, a3] = at_two(2, 4, 0.25);
  EXPECT_TRUE(at::allclose(turned(Rope::Pairing::kHalf), numbers({a0, a1, a2, a3}), 0x1p-50, 0));
  const auto [b0, b1] = at_two(1, 2, 1);
  const auto [b2, b3] = at_two(3, 4, 0.25);
  EXPECT_TRUE(
      at::allclose(turned(Rope::Pairing::kInterleaved), numbers({b0, b1, b2, b3}), 0x1p-50, 0));
  EXPECT_TRUE(turned(Rope::Pairing::kNone).equal(x[0][0][2]));
}

// Llama 3.1, original context 8192, factors 1 and 4: a frequency that turns less than once in it is
// divided by 8, more than four times kept, and twice is a third of the way: (2/3) / 8 + 1/3 = 5/12.
TEST(RotaryEmbedding, LlamaThreeFrequenciesByHand) {
  const auto second = [](double turns) {
    const double frequency = turns * 2 * std::numbers::pi / 8192;
    Rope rope;
    rope.base = 1 / (frequency * frequency);
    rope.scaled = true;
    rope.llama3 = {.factor = 8, .low = 1, .high = 4, .original_length = 8192};
    const std::vector<double> found = frequencies(rope, 4);
    EXPECT_EQ(found.size(), 2);
    EXPECT_EQ(found[0], 1);
    return found[1] / frequency;
  };
  EXPECT_NEAR(second(0.5), 1. / 8, 0x1p-48);
  EXPECT_NEAR(second(2), 5. / 12, 0x1p-48);
  EXPECT_NEAR(second(5), 1, 0x1p-48);
}

// Whatever the implementation promises, the truth's angles are those of float64, far out, too: pair 1
// turns by 0.01 a position.
TEST(RotaryEmbedding, AnglesAreOfFloat64) {
  Rope rope;
  rope.pairing = Rope::Pairing::kHalf;
  rope.u_angle = 0x1p-24;
  const int64_t seq = 1 << 20;
  const at::Tensor x = numbers({1., 1., 0., 0.}).expand({1, 1, seq, 4});
  const at::Tensor found = rotate(x, {Full{}, seq}, rope)[0][0][seq - 1];
  const double angle = static_cast<double>((seq - 1) / 100.L), rounding = angle * 0x1p-51;
  EXPECT_NEAR(found[1].item<double>(), std::cos(angle), rounding);
  EXPECT_NEAR(found[3].item<double>(), std::sin(angle), rounding);
}

// Base 16 has the frequencies 1 and 1/4, which float32 has, too, and all their products with whole
// numbers. Base 10000 has 0.01, which it has not; documents start again.
TEST(RotaryEmbedding, SingleAnglesAreOffByHand) {
  Rope rope;
  rope.base = 16;
  EXPECT_EQ(single_angles_off({Full{}, 1 << 20}, rope, 4), 0);
  rope.base = 10000;
  double off = 0;
  for (int p = 0; p < 1000; ++p)
    off = std::max(off, std::abs(static_cast<double>(static_cast<float>(p) * 0.01F) - p / 100.));
  EXPECT_NEAR(single_angles_off({Full{}, 1000}, rope, 4), off, 1e-14);
  EXPECT_GT(off, 0);
  const Mask packed{DocumentFull{{{1000, 1000}, {500, 500}}}, 1500};
  EXPECT_NEAR(single_angles_off(packed, rope, 4), off, 1e-14);
}

// In the numbers of a model of today: a float32 of more than 2^19 has a last place of 2^-4.
TEST(RotaryEmbedding, SingleAnglesAreOffByHundredthsAtAMillion) {
  Rope rope;
  const double off = single_angles_off({Full{}, 1 << 20}, rope, 128);
  EXPECT_GT(off, 0x1p-5);  // half of it: the product alone
  EXPECT_LT(off, 0x1p-4);  // and as much again: the frequency, below 1
  rope.u_angle = 0x1p-24;
  EXPECT_LT(off, std::ranges::max(angle_error_rates(rope, 128)) * (1 << 20));
}

// Pair 1 of base 10000 and dim 4: 0.01 = 0.64 2^-6, whose last place in float32 is 2^-30. Pair 0 is exact.
TEST(RotaryEmbedding, AngleErrorRatesByHand) {
  Rope rope;
  rope.u_angle = 0x1p-24;
  const std::vector<double> rates = angle_error_rates(rope, 4);
  const double rounded = std::abs(static_cast<double>(0.01F) - 0.01);
  EXPECT_DOUBLE_EQ(rates.at(0), 0x1p-52);
  EXPECT_NEAR(rates.at(1), rounded + 0x1p-30 + 0.01 * (0x1p-24 + 0x1p-52), 0x1p-70);
  const double third = angle_error_rates(rope, 6).at(1);  // 2c / d = 1/3, which is rounded, too
  const double inexact = std::abs(static_cast<double>(1 / 3.F) - 1 / 3.) * std::log(10000.);
  EXPECT_GT(third, std::pow(10000., -1 / 3.) * (inexact + 0x1p-24));
}

// A frequency in the middle of the interpolation moves more than the one it comes from.
TEST(RotaryEmbedding, AngleErrorsOfABlendGrow) {
  const auto rate = [](double turns) {
    const double frequency = turns * 2 * std::numbers::pi / 8192;
    Rope rope;
    rope.base = 1 / (frequency * frequency);
    rope.scaled = true;
    rope.llama3 = {.factor = 8, .low = 1, .high = 4, .original_length = 8192};
    rope.u_angle = 0x1p-24;
    return angle_error_rates(rope, 4).at(1) / frequencies(rope, 4).at(1);
  };
  EXPECT_LE(rate(0.5), 4 * 0x1p-24);
  EXPECT_GE(rate(2), (1 + 7 / 3.) * 5 * 0x1p-24);
  EXPECT_LE(rate(2), (1 + 7 / 3.) * 8 * 0x1p-24);
  EXPECT_LE(rate(5), 4 * 0x1p-24);
}

TEST(RotaryEmbedding, RefusesOddDimensions) {
  Rope rope;
  rope.pairing = Rope::Pairing::kHalf;
  EXPECT_THROW(rotate(at::zeros({1, 1, 2, 3}), {Full{}, 2}, rope), std::invalid_argument);
}

// Positions begin anew in each document: another cut of as long a sequence turns otherwise, also when
// it is asked about right behind the first.
TEST(RotaryEmbedding, EveryCutIntoDocumentsHasItsOwnPositions) {
  Rope rope;
  rope.pairing = Rope::Pairing::kHalf;
  const at::Tensor x = at::ones({1, 1, 9, 4}, at::kDouble);
  const auto turned = [&](const Documents& documents) {
    return rotate(x, {DocumentCausal{documents}, 9}, rope);
  };
  const at::Tensor one = turned({{9, 9}}), two = turned({{4, 4}, {5, 5}});
  EXPECT_TRUE(two.narrow(2, 0, 4).equal(one.narrow(2, 0, 4)));
  EXPECT_TRUE(two.narrow(2, 4, 5).equal(one.narrow(2, 0, 5)));
  EXPECT_FALSE(two.equal(one));
  const at::Tensor other = turned({{5, 5}, {4, 4}});
  EXPECT_TRUE(other.narrow(2, 0, 5).equal(one.narrow(2, 0, 5)));
  EXPECT_TRUE(other.narrow(2, 5, 4).equal(one.narrow(2, 0, 4)));
}

// Nor are they those of another embedding that was asked about right before, of as many pairs.
TEST(RotaryEmbedding, EveryBaseAndScalingHasItsOwnAngles) {
  const at::Tensor x = numbers({1., 1., 0., 0.}).view({1, 1, 1, 4}).expand({1, 1, 9, 4});
  std::vector<Rope> ropes(4);
  ropes[1].base = 500000;
  ropes[2].scaled = ropes[3].scaled = true;
  ropes[2].llama3 = {8, 1, 4, 64};
  ropes[3].llama3 = {4, 1, 4, 64};
  for (int time = 0; time < 2; ++time)
    for (Rope& rope : ropes) {
      rope.pairing = Rope::Pairing::kHalf;
      const at::Tensor found = rotate(x, {Full{}, 9}, rope)[0][0][8];
      const std::vector<double> of_pairs = frequencies(rope, 4);
      for (int64_t pair = 0; pair < 2; ++pair) EXPECT_NEAR(found[pair].item<double>(), std::cos(8 * of_pairs[pair]), 1e-15);
    }
}

}  // namespace
}  // namespace ringcheck::reference
