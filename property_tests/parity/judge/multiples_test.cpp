// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What relations of multiples forgive: ties, and what underflows.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "parity/judge/relation.h"

namespace ringcheck {
namespace {

TEST(Multiples, OneForgivesTwoLastPlacesOfItsRowAndOneOfItsOwn) {
  const auto forgiven = [](at::ScalarType type, double one, double off) {
    const at::Tensor row = at::tensor({1., one}, at::kDouble).to(type);
    const at::Tensor many = row + at::tensor({0., off}, at::kDouble).to(type);
    return parity::multiple(1, row, many).equal(many);
  };
  EXPECT_TRUE(forgiven(at::kFloat, 0x1p-10, 0x1p-22));
  EXPECT_FALSE(forgiven(at::kFloat, 0x1p-10, 0x1.2p-22));
  EXPECT_TRUE(forgiven(at::kDouble, 0x1p-10, 0x1p-51));
  EXPECT_FALSE(forgiven(at::kDouble, 0x1p-10, 0x1.2p-51));
  EXPECT_TRUE(forgiven(at::kBFloat16, 0x1p-10, 0x1p-17));
  EXPECT_FALSE(forgiven(at::kBFloat16, 0x1p-10, 0x1p-16));
  const at::Tensor infinite = at::tensor({INFINITY, 1.}, at::kDouble), other = at::tensor({INFINITY, 2.}, at::kDouble);
  EXPECT_FALSE(parity::multiple(1, infinite, other).equal(other));
}

// A tensor that the further run lacks is no breach that goes unseen.
TEST(Multiples, OneOfNothingIsExpectedStill) {
  const at::Tensor one = at::ones({2}), other = at::ones({3}), tiny = one * 0x1p-110;
  EXPECT_FALSE(parity::multiple(2, {}, one).defined());
  EXPECT_TRUE(parity::multiple(2, one, {}).equal(one * 2));
  EXPECT_TRUE(parity::multiple(2, one, other).equal(one * 2));
  EXPECT_TRUE(parity::multiple(2, tiny, one).equal(tiny * 2));
  EXPECT_TRUE(parity::multiple(2, tiny, tiny).equal(tiny));
}

// What is next to nothing on both sides may be anything there, and nothing larger.
TEST(Multiples, OneForgivesOnlyWhatMayHaveBeenFlushed) {
  constexpr double kTiny = 0x1p-100, kBelow = 0x1.8p-101;
  const auto multiple = [](double factor, double one, double many) {
    const auto number = [](double x) { return at::full({1}, x, at::kDouble); };
    return parity::multiple(factor, number(one), number(many)).item<double>();
  };
  for (const double factor : {0.25, 4.0}) {
    EXPECT_EQ(multiple(factor, kBelow, 0), 0);
    EXPECT_EQ(multiple(factor, 0, -factor * kBelow), -factor * kBelow);
    EXPECT_EQ(multiple(factor, kTiny, 0), factor * kTiny);
    EXPECT_EQ(multiple(factor, kBelow, factor * kTiny), factor * kBelow);
    EXPECT_EQ(multiple(factor, kBelow, -factor * kTiny), factor * kBelow);
    EXPECT_EQ(multiple(factor, 0x1p-20, 0x1p-21), factor * 0x1p-20);
  }
}

}  // namespace
}  // namespace ringcheck
