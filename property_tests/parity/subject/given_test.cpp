// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Whether a rank wrote into what it was given, by the sums that tell on GPUs.
#include "parity/subject/checks/given.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "cp/ledger/memory.h"

namespace ringcheck {
namespace {

using parity::Given;
using parity::Problem;

at::Tensor some(at::IntArrayRef sizes, at::ScalarType dtype) {
  return at::arange(1, c10::multiply_integers(sizes) + 1).remainder(251).reshape(sizes).to(dtype);
}

int64_t sum_of(const at::Tensor& x) { return Given::sums_of({x, x, x, x})[2]; }

// Widths of a row that are whole numbers of 8, 4, 2 and 1 bytes.
TEST(Given, SumsOfBitsSeeOneElementAndTwoThatChangedPlaces) {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf, at::kFloat, at::kDouble, at::kChar})
    for (const int64_t dim : {1, 2, 3, 4, 8, 13}) {
      const at::Tensor x = some({2, 3, 5, dim}, dtype);
      const int64_t before = sum_of(x);
      EXPECT_EQ(sum_of(x.clone()), before);
      for (int64_t i = 0; i < x.numel(); ++i) {
        at::Tensor other = x.clone();
        other.view(-1)[i] += 1;
        EXPECT_NE(sum_of(other), before) << dtype << " " << dim << " element " << i;
        other = x.clone();
        const int64_t j = (7 * i + 1) % x.numel();
        other.view(-1)[i] = x.view(-1)[j];
        other.view(-1)[j] = x.view(-1)[i];
        if (other.equal(x)) continue;
        EXPECT_NE(sum_of(other), before) << dtype << " " << dim << ": " << i << " and " << j;
      }
      for (int64_t side = 0; side < 3; ++side)
        EXPECT_NE(sum_of(x.flip(side).contiguous()), before) << dtype << " " << dim << " turned along " << side;
    }
}

// The upper bits of all words alike; and rows of one number, in another order.
TEST(Given, SumsOfBitsSeeWhatChangesManyElementsAlike) {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf, at::kFloat, at::kDouble}) {
    const at::Tensor x = at::randn({2, 4, 16, 64}, dtype);
    const auto changed = [&](const char* how, const std::function<void(at::Tensor&)>& change) {
      at::Tensor other = x.clone();
      change(other);
      EXPECT_NE(sum_of(other), sum_of(x)) << dtype << " " << how;
    };
    changed("negated", [](at::Tensor& y) { y.neg_(); });
    changed("a row negated", [](at::Tensor& y) { y[1][2][3].neg_(); });
    changed("an eighth", [](at::Tensor& y) { y.mul_(0.125); });
    changed("twice", [](at::Tensor& y) { y.mul_(2); });
    changed("every other channel negated", [](at::Tensor& y) { y.slice(3, 1, 64, 2).neg_(); });
    const at::Tensor routes = at::eye(64).to(dtype).view({1, 1, 64, 64});
    EXPECT_NE(sum_of(routes.flip(2).contiguous()), sum_of(routes)) << dtype;
  }
}

TEST(Given, SumsOfBitsSeeTheSignOfZero) {
  at::Tensor x = at::zeros({1, 2, 4, 8}, at::kBFloat16);
  const int64_t before = sum_of(x);
  x.view(-1)[5] = -0.0;
  EXPECT_NE(sum_of(x), before);
}

TEST(Given, SumsOfBitsSeeWhatDoesNotBeginAtAWord) {
  at::Tensor x = some({1, 4, 2, 8}, at::kBFloat16).view(-1).narrow(0, 3, 56).view({1, 7, 8});
  const int64_t before = sum_of(x);
  x[0][6][7] += 1;
  EXPECT_NE(sum_of(x), before);
}

// Large enough for several pieces.
TEST(Given, SumsOfBitsSeeEveryPiece) {
  const at::Tensor x = some({1, 2, 300, 128}, at::kFloat);
  const int64_t before = sum_of(x);
  for (int64_t i = 0; i < x.numel(); i += 1999) {
    const at::Tensor other = x.clone();
    other.view(-1)[i] += 1;
    EXPECT_NE(sum_of(other), before) << i;
  }
  EXPECT_NE(sum_of(x.roll(16384, 2)), before);
  constexpr int64_t kPiece = 8192 * 2;  // numbers of 4 bytes
  at::Tensor swapped = x.clone();
  swapped.view(-1).narrow(0, 0, kPiece).copy_(x.view(-1).narrow(0, kPiece, kPiece));
  swapped.view(-1).narrow(0, kPiece, kPiece).copy_(x.view(-1).narrow(0, 0, kPiece));
  EXPECT_NE(sum_of(swapped), before) << "two pieces that changed places";
}

// By hashes and by sums.
TEST(Given, EachOfTheFourIsNamed) {
  const at::Tensor x = some({1, 2, 4, 8}, at::kBFloat16);
  const Problem before{x.clone(), x + 1, x + 2, x + 3};
  const Given given(before);
  EXPECT_EQ(given.changed(before), 0);
  const Given::Traces sums = Given::sums_of(before);
  const std::pair<const char*, at::Tensor Problem::*> all[] = {
      {"q", &Problem::q}, {"k", &Problem::k}, {"v", &Problem::v}, {"dO", &Problem::d_o}};
  for (size_t i = 0; i < std::size(all); ++i) {
    Problem now = before;
    at::Tensor& tensor = now.*all[i].second;
    tensor = tensor.clone();
    tensor[0][1][2][3] += 1;
    EXPECT_EQ(Given::names(given.changed(now)), all[i].first);
    const Given::Traces then = Given::sums_of(now);
    for (size_t j = 0; j < sums.size(); ++j) EXPECT_EQ(then[j] != sums[j], i == j) << all[i].first;
  }
  EXPECT_EQ(Given::names(given.changed({before.q + 1, before.k, before.v - 1, before.d_o})), "q, v");
}

// What a subject holds is counted by the same meter.
TEST(Given, SumsOfBitsHoldNoCopy) {
  const at::Tensor x = some({2, 8, 1024, 128}, at::kBFloat16);
  const auto meter = std::make_shared<MemoryMeter>();
  {
    const Metered metered(meter);
    Given::sums_of({x, x, x, x});
  }
  EXPECT_LE(meter->total().peak, static_cast<int64_t>(x.nbytes()) / 8);
}

// A small problem takes less than the sums do.
TEST(Given, WhatTheCheckTakesIsNotTheRanks) {
  const at::Tensor x = some({2, 8, 64, 16}, at::kBFloat16).transpose(1, 2);
  const auto meter = std::make_shared<MemoryMeter>();
  {
    const Metered metered(meter);
    const Given given({x, x, x, x});
    EXPECT_EQ(given.changed({x, x, x, x}), 0);
  }
  EXPECT_EQ(meter->total().peak, 0);
}

}  // namespace
}  // namespace ringcheck
