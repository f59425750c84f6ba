// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/rope.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cp/attention/partial.h"
#include "cp/layout/shard.h"
#include "parity/judge/reference_rope.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

struct Setting {
  gen::Cut cut;
  Rope rope;
  at::Tensor x;  // [2, 3, seq, dim]
};

Setting draw() {
  Setting s{*gen::cut().as("cut"), *gen::rope().as("rope"), {}};
  const int64_t dim = 2 * *gen::between(1, 6).as("pairs");
  s.x = normal({2, 3, s.cut.length(), dim}, *gen::seed().as("seed"), *gen::dtype().as("dtype"));
  return s;
}

Positions everything(const gen::Cut& cut) { return {{0, cut.length()}}; }
double unit_roundoff(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? 0x1p-53 : 0x1p-24;
}

// |x - y| <= terms u (|a| + |b|), where a and b are the channels of the pair; NaN fails.
bool near(const at::Tensor& x, const at::Tensor& y, const at::Tensor& size, double terms) {
  const at::Tensor wide = x.to(at::kDouble), other = y.to(at::kDouble);
  return ((wide - other).abs() <= size.to(at::kDouble) * (terms * unit_roundoff(x)))
      .all()
      .item<bool>();
}

// Shard then turn = turn then shard, bit for bit: a slot turns by its global position, wherever
// the balancer put it.
RC_GTEST_PROP(Rope, ShardingAndRotatingCommute, ()) {
  const Setting s = draw();
  const auto turn = *gen::flag().as("back") ? rotate_back : rotate;
  const Mask& mask = s.cut.sequence.mask;
  std::vector<at::Tensor> turned;
  for (const Positions& positions : s.cut.layout().queries)
    turned.push_back(turn(shard(s.x, 2, positions), s.rope, mask, positions));
  RC_ASSERT(difference(unshard(turned, 2, s.cut.layout().queries, s.cut.length()),
                       turn(s.x, s.rope, mask, everything(s.cut))) == "");
}

// The first token of the sequence, and of every document, is not turned; neither is anything
// without RoPE. The result is in the accumulation type.
RC_GTEST_PROP(Rope, PositionZeroIsTheIdentity, ()) {
  const Setting s = draw();
  const Mask& mask = s.cut.sequence.mask;
  const at::Tensor wide = s.x.to(accumulation_type(s.x.scalar_type()));
  const at::Tensor turned = rotate(s.x, s.rope, mask, everything(s.cut));
  RC_ASSERT(at::equal(turned.select(2, 0), wide.select(2, 0)));
  if (const Documents* packed = documents(mask)) {
    int64_t begin = 0;
    for (const Document& document : *packed) {
      RC_ASSERT(at::equal(turned.select(2, begin), wide.select(2, begin)));
      begin += document.slots;
    }
  }
  RC_ASSERT(difference(rotate(s.x, {}, mask, everything(s.cut)), wide) == "");
  RC_ASSERT(difference(rotate_back(s.x, {}, mask, everything(s.cut)), wide) == "");
}

// The channel that turns together with each channel.
at::Tensor partner(const at::Tensor& x, const Rope& rope) {
  const int64_t dim = x.size(3);
  if (rope.pairing == Rope::Pairing::kHalf)
    return x.roll(dim / 2, 3);
  return x.view({x.size(0), x.size(1), x.size(2), dim / 2, 2}).flip({4}).flatten(3);
}

at::Tensor pair_size(const at::Tensor& x, const Rope& rope) {
  const at::Tensor wide = x.to(at::kDouble);
  return wide.abs() + partner(wide, rope).abs();
}

// rotate_back(rotate(x)) = x, and the other way round.
RC_GTEST_PROP(Rope, RotatingBackIsTheInverse, ()) {
  const Setting s = draw();
  const Mask& mask = s.cut.sequence.mask;
  const Positions all = everything(s.cut);
  const at::Tensor wide = s.x.to(accumulation_type(s.x.scalar_type())),
                   size = pair_size(wide, s.rope);
  RC_ASSERT(near(rotate_back(rotate(wide, s.rope, mask, all), s.rope, mask, all), wide, size, 16));
  RC_ASSERT(near(rotate(rotate_back(wide, s.rope, mask, all), s.rope, mask, all), wide, size, 16));
}

// Each pair keeps its length.
RC_GTEST_PROP(Rope, PairsKeepTheirNorm, ()) {
  const Setting s = draw();
  const auto squares = [&](const at::Tensor& x) {
    const at::Tensor wide = x.to(at::kDouble);
    return wide * wide + partner(wide, s.rope) * partner(wide, s.rope);
  };
  const at::Tensor turned = rotate(s.x, s.rope, s.cut.sequence.mask, everything(s.cut));
  const at::Tensor before = squares(s.x);
  RC_ASSERT(((squares(turned) - before).abs() <= before * (16 * unit_roundoff(turned)))
                .all()
                .item<bool>());
}

// The gradient of a rotation is the inverse rotation: <rotate(x), y> = <x, rotate_back(y)>.
RC_GTEST_PROP(Rope, RotatingBackIsTheTranspose, ()) {
  const Setting s = draw();
  const Mask& mask = s.cut.sequence.mask;
  const Positions all = everything(s.cut);
  const at::Tensor x = s.x.to(at::kDouble), y = normal(x.sizes(), 3, at::kDouble);
  const at::Tensor left = (rotate(x, s.rope, mask, all) * y).sum(3);
  const at::Tensor right = (x * rotate_back(y, s.rope, mask, all)).sum(3);
  const at::Tensor size = (pair_size(x, s.rope) * pair_size(y, s.rope)).sum(3);
  RC_ASSERT(near(left, right, size, 16 + static_cast<double>(x.size(3))));
}

// Documents restart: a document turns like a sequence of its own.
RC_GTEST_PROP(Rope, DocumentsRestart, ()) {
  Setting s = draw();
  const Documents packed = *gen::documents(s.cut.length());
  const Mask mask{DocumentCausal{packed}, s.cut.length()};
  const at::Tensor turned = rotate(s.x, s.rope, mask, everything(s.cut));
  int64_t begin = 0;
  for (const Document& document : packed) {
    const Mask alone{Causal{}, document.slots};
    const at::Tensor part = s.x.narrow(2, begin, document.slots);
    RC_ASSERT(difference(rotate(part, s.rope, alone, {{0, document.slots}}),
                         turned.narrow(2, begin, document.slots)) == "");
    begin += document.slots;
  }
}

// Scores depend on distances only: <rotate(q, m), rotate(k, n)> = <rotate(q, m + d), rotate(k, n +
// d)>.
RC_GTEST_PROP(Rope, ScoresDependOnDistances, ()) {
  const Rope rope = *gen::rope().as("rope");
  const int64_t dim = 2 * *gen::between(1, 6).as("pairs"), n = 6;
  const int64_t shift = *gen::between(1, 500).as("shift");
  const uint64_t seed = *gen::seed().as("seed");
  const at::Tensor q = normal({1, 1, n, dim}, seed, at::kDouble);
  const at::Tensor k = normal({1, 1, n, dim}, seed + 1, at::kDouble);
  const Mask mask{Causal{}, 1000};
  const auto scores = [&](int64_t begin) {
    const Positions at{{begin, n}};
    return at::matmul(rotate(q, rope, mask, at), rotate(k, rope, mask, at).transpose(2, 3));
  };
  const at::Tensor size = at::matmul(pair_size(q, rope), pair_size(k, rope).transpose(2, 3));
  // An angle of up to 1000 has an error of 1000 u.
  RC_ASSERT(near(scores(0), scores(shift), size, 4000));
}

// The reference, written by others from the same definition of the angle.
RC_GTEST_PROP(Rope, AgreesWithTheReference, ()) {
  const Setting s = draw();
  parity::Case test;
  test.rope = s.rope;
  test.dtype = s.x.scalar_type();
  const Mask& mask = s.cut.sequence.mask;
  const at::Tensor size = pair_size(s.x, s.rope);
  const reference::Rope rope = parity::reference_rope(test);
  const Positions all = everything(s.cut);
  const double rate = std::ranges::max(reference::angle_error_rates(rope, s.x.size(3)));
  const double terms = 8 + rate * static_cast<double>(mask.length) / unit_roundoff(s.x);
  RC_ASSERT(near(rotate(s.x, s.rope, mask, all), reference::rotate(s.x, mask, rope), size, terms));
  RC_ASSERT(near(rotate_back(s.x, s.rope, mask, all), reference::rotate_back(s.x, mask, rope), size,
                 terms));
}

// Far out, a slot still turns by the angle as it is defined, p * f_c in float64, whatever is rotated: no
// table ends, no position is rounded to fewer bits.
RC_GTEST_PROP(Rope, LargePositionsTurnByTheirOwnAngle, ()) {
  const int64_t position = *gen::between(0, (int64_t{1} << 24) - 1).as("position");
  const at::ScalarType dtype = *gen::dtype().as("dtype");
  const Rope rope{Rope::Pairing::kHalf, 10000, {}};
  const at::Tensor x = at::tensor({1.0, 1.0, 0.0, 0.0}, at::kDouble).view({1, 1, 1, 4}).to(dtype);
  const at::Tensor y = rotate(x, rope, {Causal{}, int64_t{1} << 24}, {{position, 1}});
  const double a = static_cast<double>(position), b = a * 0.01;
  const at::Tensor expected =
      at::tensor({std::cos(a), std::cos(b), std::sin(a), std::sin(b)}, at::kDouble)
          .view({1, 1, 1, 4});
  // Two evaluations of b differ by two roundings of it and what their frequencies differ by.
  const double angle = dtype == at::kDouble ? 8 * b : 0;
  RC_ASSERT(near(y, expected, at::full({1}, 1.0), 4 + angle));
}

// By hand: dim 4, base 10000, position 3. Pair 0 turns by 3, pair 1 by 0.03.
TEST(Rope, PairingsByHand) {
  const at::Tensor x = at::tensor({1.0, 2.0, 3.0, 4.0}, at::kDouble).view({1, 1, 1, 4});
  const Mask mask{Causal{}, 10};
  const double c = std::cos(3.0), s = std::sin(3.0), d = std::cos(0.03), t = std::sin(0.03);
  const auto expect = [&](Rope::Pairing pairing, std::vector<double> y) {
    const at::Tensor expected = at::tensor(y, at::kDouble).view({1, 1, 1, 4});
    EXPECT_TRUE(
        near(rotate(x, {pairing, 10000, {}}, mask, {{3, 1}}), expected, at::full({1}, 8.0), 8));
  };
  expect(Rope::Pairing::kHalf, {1 * c - 3 * s, 2 * d - 4 * t, 3 * c + 1 * s, 4 * d + 2 * t});
  expect(Rope::Pairing::kInterleaved, {1 * c - 2 * s, 2 * c + 1 * s, 3 * d - 4 * t, 4 * d + 3 * t});
}

// Llama 3.1: wavelengths above original / low are stretched by the factor, below original / high
// they stay, between them the frequency is blended.
TEST(Rope, Llama3ByHand) {
  const Rope rope{Rope::Pairing::kHalf, 10000, Rope::Llama3{8, 1, 4, 64}};
  const Mask mask{Causal{}, 10};
  const at::Tensor x = at::cat({at::ones({4}), at::zeros({4})}).to(at::kDouble).view({1, 1, 1, 8});
  const at::Tensor y = rotate(x, rope, mask, {{1, 1}}).view({8});
  for (int64_t pair = 0; pair < 4; ++pair) {
    const double plain = std::pow(10000.0, -2.0 * static_cast<double>(pair) / 8);
    const double turns = 64 * plain / (2 * std::numbers::pi);  // 10.2, 1.02, 0.102, 0.0102
    const double blend = (turns - 1) / 3;
    const double f = turns > 4   ? plain
                     : turns < 1 ? plain / 8
                                 : (1 - blend) * plain / 8 + blend * plain;
    EXPECT_NEAR(y[pair].item<double>(), std::cos(f), 0x1p-48);
    EXPECT_NEAR(y[pair + 4].item<double>(), std::sin(f), 0x1p-48);
  }
}

}  // namespace
}  // namespace ringcheck
