// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums that are chopped, towards zero, as those of tensor cores are: what a long one loses has one sign.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "parity/judge/comparison.h"
#include "parity/judge/conservation/conservation.h"
#include "parity/subject/contract.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"
#include "reference/errors/bounds.h"

namespace ringcheck {
namespace {

using parity::LawVerdict;
using parity::Status;

// As many choppings, of a last place as large, as a sum of eight million terms has on a GPU.
constexpr int kBits = 14;
constexpr int64_t kSeq = 1024;
const reference::Contract kChops{
    .u_a = 0x1p-13, .u_p = 0, .u_o = 0x1p-24, .eta_e = 0, .u_m = 0x1p-13, .c_e = 0, .chops_after = 1};

at::Tensor chopped(const at::Tensor& x) {
  const auto [mantissa, exponent] = at::frexp(x);
  return at::ldexp((mantissa * (1 << kBits)).trunc() / (1 << kBits), exponent);
}

// The sum of weights times terms, one after the other.
at::Tensor added_up(const at::Tensor& weights, const at::Tensor& terms) {
  at::Tensor sum = at::zeros_like(terms);
  for (int64_t i = 0; i < kSeq; ++i)
    sum = chopped(sum + weights.narrow(-1, i, 1) * terms.narrow(2, i, 1));
  return sum;
}

struct Chopping {
  reference::Inputs inputs;
  reference::Tensors found;

  // Early queries ask for most, so that sums are large from early on. All else is exact.
  explicit Chopping(uint64_t seed)
      : inputs{normal({1, 2, kSeq, 8}, seed, at::kDouble), normal({1, 2, kSeq, 8}, seed + 1, at::kDouble),
               normal({1, 2, kSeq, 8}, seed + 2, at::kDouble), normal({1, 2, kSeq, 8}, seed + 3, at::kDouble),
               {Full{}, kSeq}, 1 / std::sqrt(8.0)} {
    inputs.d_o.narrow(2, 0, 32).mul_(32);
    const at::Tensor scores = inputs.q.matmul(inputs.k.mT()) * inputs.scale, p = scores.softmax(-1);
    const at::Tensor g = inputs.d_o.matmul(inputs.v.mT()), ds = p * (g - (p * g).sum(-1, true)) * inputs.scale;
    found = {added_up(p, inputs.v), scores.logsumexp(-1), added_up(ds, inputs.k), added_up(ds.mT(), inputs.q),
             added_up(p.mT(), inputs.d_o)};
  }
  std::vector<LawVerdict> laws(const reference::Contract& contract) const {
    const parity::AttentionShard all{inputs.q, inputs.d_o, found.o,  found.dq, inputs.k,
                                     inputs.v, found.dk,   found.dv, {}};
    return parity::judge_conservation(parity::conservation_sums(all), {contract, inputs.scale, 1});
  }
};

bool fails(const LawVerdict& law) { return law.status == Status::kFail; }

reference::Contract rounding() {
  reference::Contract contract = kChops;
  contract.chops_after = 0;
  return contract;
}

TEST(ChoppedSums, KeepTheConservationLawsOfAKernelThatSaysSo) {
  const Chopping run(7);
  const auto laws = run.laws(kChops);
  EXPECT_TRUE(std::ranges::none_of(laws, fails));
  EXPECT_EQ(laws[0].status, Status::kPass) << laws[0].text();
  const auto otherwise = run.laws(rounding());
  EXPECT_TRUE(fails(otherwise[0])) << otherwise[0].text();
}

// What they lose is a few percent here: a doubled dV is not taken for it.
TEST(ChoppedSums, ExplainNoMoreThanTheyLose) {
  Chopping run(7);
  run.found.dv = run.found.dv * 2;
  EXPECT_TRUE(fails(run.laws(kChops)[0])) << run.laws(kChops)[0].text();
}

// In each element, too.
TEST(ChoppedSums, StayWithinSigma) {
  const Chopping run(11);
  const auto worst = [&](const reference::Contract& contract, at::Tensor reference::Tensors::*tensor) {
    const reference::Judgement truth = judge(run.inputs, contract, 1, reference::Rope{});
    const at::Tensor error = (run.found.*tensor - truth.value.*tensor).abs();
    EXPECT_TRUE((error <= truth.bound.*tensor).all().item<bool>());
    return (error / truth.sigma.*tensor).max().item<double>();
  };
  using T = reference::Tensors;
  for (const auto tensor : {&T::o, &T::dq, &T::dk, &T::dv}) {
    EXPECT_LT(worst(kChops, tensor), parity::kStat);
    EXPECT_GT(worst(rounding(), tensor), parity::kStat);
  }
}

// D is made of an O that was chopped: where q and D have a mean, the sum of dK is off by all of it at once.
TEST(ChoppedSums, OfOReachTheSumOfDkThroughD) {
  reference::Inputs in{normal({1, 1, kSeq, 8}, 3, at::kDouble), normal({1, 1, kSeq, 8}, 4, at::kDouble),
                       normal({1, 1, kSeq, 8}, 5, at::kDouble), normal({1, 1, kSeq, 8}, 6, at::kDouble),
                       {Full{}, kSeq}, 1 / std::sqrt(8.0)};
  in.q.add_(1), in.v.add_(1), in.d_o.add_(1);
  const at::Tensor p = (in.q.matmul(in.k.mT()) * in.scale).softmax(-1), o = added_up(p, in.v);
  const at::Tensor ds = p * (in.d_o.matmul(in.v.mT()) - (in.d_o * o).sum(-1, true)) * in.scale;
  const parity::AttentionShard all{in.q, in.d_o, o, ds.matmul(in.k), in.k, in.v, ds.mT().matmul(in.q), p.mT().matmul(in.d_o), {}};
  const auto laws = parity::judge_conservation(parity::conservation_sums(all), {kChops, in.scale, 1});
  for (const LawVerdict& law : laws) EXPECT_FALSE(fails(law)) << law.text();
  RecordProperty("z", laws[1].z);
}

// The sum of a key has a term for each query of each head that reads it.
TEST(ChoppedSums, OfGroupedQueriesAreAsLongAsTheQueriesOfAllHeads) {
  constexpr int64_t kHeads = 64, kKeys = 64;
  const double scale = 1 / std::sqrt(8.0);
  const at::Tensor q = normal({1, kHeads, kKeys, 8}, 3, at::kDouble), k = normal({1, 1, kKeys, 8}, 4, at::kDouble),
                   v = normal({1, 1, kKeys, 8}, 5, at::kDouble), d_o = normal({1, kHeads, kKeys, 8}, 6, at::kDouble) + 1;
  const at::Tensor p = (q.matmul(k.mT()) * scale).softmax(-1), g = d_o.matmul(v.mT());
  const at::Tensor ds = p * (g - (p * g).sum(-1, true)) * scale;
  const auto of_key = [&](const at::Tensor& weights, const at::Tensor& terms) {  // over heads and queries
    const at::Tensor w = weights.reshape({1, 1, kHeads * kKeys, kKeys}).mT(), t = terms.reshape({1, 1, kHeads * kKeys, 8});
    at::Tensor sum = at::zeros({1, 1, kKeys, 8}, at::kDouble);
    for (int64_t i = 0; i < kHeads * kKeys; ++i) sum = chopped(sum + w.narrow(-1, i, 1) * t.narrow(2, i, 1));
    return sum;
  };
  const parity::AttentionShard all{q, d_o, p.matmul(v), ds.matmul(k), k, v, of_key(ds, q), of_key(p, d_o), {}};
  const auto laws = parity::judge_conservation(parity::conservation_sums(all), {kChops, scale, 1});
  for (const LawVerdict& law : laws) EXPECT_FALSE(fails(law)) << law.text();
}

// Of several kernels the one that loses most.
TEST(ChoppedSums, AreAmongTheLoosestContracts) {
  EXPECT_GT(parity::loosest_contract({at::kBFloat16}).lost_of(1 << 20), 0x1p-9);
  EXPECT_EQ(parity::loosest_contract({at::kDouble}).lost_of(1 << 20), 0);
  EXPECT_EQ(reference::Contract{}.lost_of(1 << 20), 0);
}

}  // namespace
}  // namespace ringcheck
