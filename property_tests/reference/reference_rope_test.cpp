// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/rope.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

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
    rope.single_angles = false;
    const std::vector<double> found = frequencies(rope, 4);
    EXPECT_EQ(found.size(), 2);
    EXPECT_EQ(found[0], 1);
    return found[1] / frequency;
  };
  EXPECT_NEAR(second(0.5), 1. / 8, 0x1p-48);
  EXPECT_NEAR(second(2), 5. / 12, 0x1p-48);
  EXPECT_NEAR(second(5), 1, 0x1p-48);
}

// With single angles, frequency, position and product are those of float32.
TEST(RotaryEmbedding, SingleAnglesAreFloats) {
  Rope rope;
  rope.pairing = Rope::Pairing::kHalf;
  const int64_t seq = 3000;
  const at::Tensor x = numbers({1., 1., 0., 0.}).expand({1, 1, seq, 4});
  const at::Tensor found = rotate(x, {Full{}, seq}, rope)[0][0][seq - 1];
  const float frequency = static_cast<float>(std::pow(10000., -0.5));
  const float angle = static_cast<float>(seq - 1) * frequency;
  EXPECT_DOUBLE_EQ(found[1].item<double>(), std::cos(static_cast<double>(angle)));
  EXPECT_DOUBLE_EQ(found[3].item<double>(), std::sin(static_cast<double>(angle)));
  rope.single_angles = false;
  EXPECT_FALSE(found.equal(rotate(x, {Full{}, seq}, rope)[0][0][seq - 1]));
}

TEST(RotaryEmbedding, RefusesOddDimensions) {
  Rope rope;
  rope.pairing = Rope::Pairing::kHalf;
  EXPECT_THROW(rotate(at::zeros({1, 1, 2, 3}), {Full{}, 2}, rope), std::invalid_argument);
}

}  // namespace
}  // namespace ringcheck::reference
