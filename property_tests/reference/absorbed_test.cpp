// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Additions one after the other do not see a term below half of the sum's last place: what they lose
// has one sign, so that it is more than sqrt(n) roundings.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "property_tests/reference/reference_problems.h"
#include "reference/errors/bounds.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;

// In float32, [..., n] to [...].
at::Tensor one_after_the_other(const at::Tensor& terms) {
  at::Tensor sum = at::zeros_like(terms.select(-1, 0), at::kFloat);
  const at::Tensor list = terms.to(at::kFloat).movedim(-1, 0).contiguous();
  for (int64_t i = 0; i < list.size(0); ++i) sum += list[i];
  return sum.to(at::kDouble);
}

// Where v = 1, O is the sum of P and its error coherent: by the same sums dQ was 8.4 sigma off on a GPU,
// in which what is not seen was missing.
TEST(Absorbed, ASumOfManyKeysInOneChainStaysWithinItsSigma) {
  const Shape shape{.q_heads = 2, .kv_heads = 2, .seq = 6000, .dim = 8, .dim_v = 1};
  Inputs in = draw(shape, {Causal{}, shape.seq}, 5, Family::kOnes, at::kFloat);
  in.q = in.q * 3;  // scores of standard deviation 3, so that P spreads over many binades
  const Judgement judged = judge(in, Contract{}, 1, Rope{});
  const int64_t few = 32, first = shape.seq - few;  // the longest sums
  const at::Tensor scores = at::matmul(in.q.narrow(2, first, few), in.k.mT()) * in.scale;
  const at::Tensor later = at::arange(shape.seq).unsqueeze(0).gt(at::arange(first, shape.seq).unsqueeze(1));
  const at::Tensor p = at::softmax(scores.masked_fill(later, -INFINITY), -1);
  const at::Tensor error = (one_after_the_other(p) - 1).abs();
  const auto last = [&](const at::Tensor& x) { return x.narrow(2, first, few); };
  EXPECT_LT((error / last(judged.sigma.o).squeeze(-1)).max().item<double>(), 4);
  EXPECT_TRUE(error.le(last(judged.bound.o).squeeze(-1)).all().item<bool>());

  // Without the terms below u_a there is such an error no more, and with them it is most of it.
  const at::Tensor absorbed = at::where(p < 0x1p-24, p, 0.).sum(-1);
  const at::Tensor seen = (one_after_the_other(p - at::where(p < 0x1p-24, p, 0.)) - (1 - absorbed)).abs();
  EXPECT_GT(error.mean().item<double>(), 2 * seen.mean().item<double>());
  EXPECT_GT(last(judged.sigma.o).min().item<double>(), absorbed.min().item<double>());
}

}  // namespace
}  // namespace ringcheck::reference_testing
