// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "parity/case/part.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// Context parallelism against attention, and against the laws that attention obeys. Every
// tolerance is the sum of the worst-case bounds of the terms.
namespace ringcheck {
namespace {

struct Judged {
  parity::Case test;
  parity::Problem problem;
  Pass pass;
  reference::Judgement truth;
};

Judged judged(const parity::Case& test) {
  at::set_num_threads(1);
  const parity::Problem problem = parity::problem_of(test);
  const Pass pass = run_pass(test, problem);
  return {test, problem, pass, judgement(test, problem, pass)};
}

// Context-parallel attention is attention: O, LSE, dQ, dK and dV, element by element.
RC_GTEST_PROP(ContextParallelBounds, EqualsAttention, ()) {
  const Judged j = judged(*gen::test_case().as("case"));
  RC_ASSERT(beyond(j.pass.whole, j.truth) == "");
}

// Without RoPE (so that its gradients are those of what entered the scores) and in float64.
Judged conserved() {
  parity::Case test = *gen::test_case().as("case");
  test.rope = {};
  test.dtype = at::kDouble;
  if (parity::not_supported(test))
    test.kernel = "plain";
  return judged(test);
}

// What holds of every token's row; pads are NaN in a problem.
at::Tensor tokens(const at::Tensor& x) { return x.to(at::kDouble).nan_to_num(0); }

// x summed over the query heads of each key-value head: [batch, kv_heads, seq, n].
at::Tensor grouped(const at::Tensor& x, const parity::Case& test) {
  return x.unflatten(1, {test.kv_heads, test.q_heads / test.kv_heads}).sum(2);
}

// |left - right| <= 2 bound everywhere; NaN fails. The factor is for the sums taken here.
bool conserves(const at::Tensor& left, const at::Tensor& right, const at::Tensor& bound) {
  return ((left - right).abs() <= 2 * bound).all().item<bool>();
}

// Rows of P sum to one: sum over keys of dV is the sum over seeing queries of dO.
RC_GTEST_PROP(ContextParallelBounds, SumOfDvIsSumOfDo, ()) {
  const auto [test, p, pass, truth] = conserved();
  const at::Tensor sees = truth.value.lse.isneginf().logical_not().unsqueeze(-1);
  const at::Tensor d_o = grouped(tokens(p.d_o) * sees, test);
  RC_ASSERT(conserves(pass.whole.dv.sum(2), d_o.sum(2), truth.bound.dv.sum(2)));
}

// Rows of dS sum to zero (shifting all keys changes nothing): so does dK over the keys.
RC_GTEST_PROP(ContextParallelBounds, DkSumsToZero, ()) {
  const auto [test, p, pass, truth] = conserved();
  const at::Tensor sum = pass.whole.dk.sum(2);
  RC_ASSERT(conserves(sum, at::zeros_like(sum), truth.bound.dk.sum(2)));
}

// S is bilinear: <dQ, q> = <dK, k> for each key-value head.
RC_GTEST_PROP(ContextParallelBounds, ScoresAreBilinear, ()) {
  const auto [test, p, pass, truth] = conserved();
  const auto inner = [](const at::Tensor& x, const at::Tensor& y) { return (x * y).sum({2, 3}); };
  const at::Tensor q = tokens(p.q), k = tokens(p.k);
  const auto per_head = [&](const at::Tensor& x) {
    return grouped(x.unsqueeze(-1), test).squeeze(-1);
  };
  const at::Tensor left = per_head(inner(pass.whole.dq, q)), right = inner(pass.whole.dk, k);
  RC_ASSERT(conserves(left, right,
                      per_head(inner(truth.bound.dq, q.abs())) + inner(truth.bound.dk, k.abs())));
}

// O is linear in V: <dV, v> = <dO, O> for each key-value head.
RC_GTEST_PROP(ContextParallelBounds, OutputIsLinearInV, ()) {
  const auto [test, p, pass, truth] = conserved();
  const auto inner = [](const at::Tensor& x, const at::Tensor& y) { return (x * y).sum({2, 3}); };
  const auto per_head = [&](const at::Tensor& x) {
    return grouped(x.unsqueeze(-1), test).squeeze(-1);
  };
  const at::Tensor v = tokens(p.v), d_o = tokens(p.d_o);
  const at::Tensor left = inner(pass.whole.dv, v), right = per_head(inner(pass.whole.o, d_o));
  RC_ASSERT(conserves(left, right,
                      inner(truth.bound.dv, v.abs()) + per_head(inner(truth.bound.o, d_o.abs()))));
}

// The scale of a case reaches both passes: another scale gives another result.
RC_GTEST_PROP(ContextParallelBounds, TheScaleMatters, ()) {
  parity::Case test = *gen::test_case().as("case");
  test.dtype = at::kDouble;
  if (parity::not_supported(test))
    test.kernel = "plain";
  test.mask = Full{};
  test.seq += 1;
  test.scale = 0.5;
  const Pass one = run_pass(test);
  test.scale = 0.25;
  const Pass other = run_pass(test);
  RC_ASSERT(!at::equal(one.whole.o, other.whole.o));
  RC_ASSERT(!at::equal(one.whole.dq, other.whole.dq));
}

// More ranks than tokens: every world of 1 ... 8 ranks on 1 ... 3 tokens.
TEST(ContextParallelBounds, ShortSequencesAreAttention) {
  int judgements = 0;
  for (const std::string& strategy : parity::part("strategy").values())
    for (const auto& [balancer, cut] : Balancers::all())
      for (const int world : {1, 2, 5, 8})
        for (const int64_t seq : {1, 2, 3}) {
          parity::Case test = parity::parse_case(strategy);
          test.balance = balancer;
          test.world = world;
          test.seq = seq;
          test.dim = test.dim_v = 8;
          parity::deal_heads(test);
          const Judged j = judged(test);
          EXPECT_EQ(beyond(j.pass.whole, j.truth), "") << parity::to_text(test);
          ++judgements;
        }
  EXPECT_GE(judgements, 15 * 12);
}

}  // namespace
}  // namespace ringcheck
