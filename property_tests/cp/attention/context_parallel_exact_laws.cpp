// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <bit>

#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// Inputs whose results are known exactly: who attended to whom, through the whole rotation.
namespace ringcheck {
namespace {

// [seq, seq], 1 where the mask lets row attend to column.
at::Tensor predicate(const parity::Case& test) {
  const Mask mask = parity::mask_of(test);
  at::Tensor seen = at::zeros({test.seq, test.seq}, at::kDouble);
  for (int64_t q = 0; q < test.seq; ++q)
    for (int64_t k = 0; k < test.seq; ++k)
      seen[q][k] = visible(mask, q, k) ? 1 : 0;
  return seen;
}

parity::Case unrotated_case() {
  parity::Case test = *gen::test_case().as("case");
  test.rope = {};
  return test;
}

// Census: with Q = 0, exp(LSE) is the number of visible keys.
RC_GTEST_PROP(ContextParallelExact, LseCountsTheVisibleKeys, ()) {
  const parity::Case test = *gen::test_case().as("case");
  parity::Problem p = parity::problem_of(test);
  p.q.zero_();
  const at::Tensor counts = predicate(test).sum(1);
  const at::Tensor found = run_pass(test, p).whole.lse.to(at::kDouble).exp();
  RC_ASSERT(difference(found.round(), counts.expand_as(found).contiguous()) == "");
}

// Ownership: with Q = 0 and V one-hot by the rank that owns the key, O times the number of visible
// keys is how many of them each rank owns.
RC_GTEST_PROP(ContextParallelExact, EveryRankBringsItsOwnKeys, ()) {
  parity::Case test = unrotated_case();
  test.dim_v = test.world;
  if (parity::not_supported(test))
    test.kernel = "plain";
  at::Tensor owners = at::zeros({test.seq, test.world}, at::kDouble);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  for (int rank = 0; rank < test.world; ++rank)
    for (const int64_t position : flatten(layout[rank]))
      if (position < test.seq)
        owners[position][rank] = 1;
  parity::Problem p = parity::problem_of(test);
  p.q.zero_();
  p.v.copy_(owners.expand_as(p.v));
  const at::Tensor seen = predicate(test);
  const at::Tensor found = (run_pass(test, p).whole.o.to(at::kDouble) * seen.sum(1, true)).round();
  RC_ASSERT(difference(found, seen.matmul(owners).expand_as(found).contiguous()) == "");
}

// Routing: every query points at one visible key, with a score gap at which every other probability
// is exactly zero. Targets differ between batch entries and heads, and so do the codes of the keys.
struct Routed {
  parity::Case test;
  parity::Problem problem;
  at::Tensor target;  // [batch, q_heads, seq]
  at::Tensor sees;    // [seq] bool: rows that see nothing have no target
};

at::Tensor codes(int64_t count, int64_t bits) {
  at::Tensor code = at::ones({count, 2 * bits}, at::kDouble);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t bit = 0; bit < 2 * bits; ++bit)
      if (i >> (bit % bits) & 1)
        code[i][bit] = -1;
  return code;
}

Routed routed() {
  Routed r{unrotated_case(), {}, {}, {}};
  parity::Case& test = r.test;
  const auto bits = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(test.seq)));
  test.dim = 2 * bits;
  test.scale = 1;
  if (parity::not_supported(test))
    test.dim_v = test.dim;
  if (parity::not_supported(test))
    test.kernel = "plain";
  r.problem = parity::problem_of(test);
  const at::Tensor code = codes(test.seq, bits), seen = predicate(test);
  r.sees = seen.sum(1).gt(0);
  r.target = at::zeros({test.batch, test.q_heads, test.seq}, at::kLong);
  const int64_t group = test.q_heads / test.kv_heads;
  for (int64_t b = 0; b < test.batch; ++b)
    for (int64_t h = 0; h < test.q_heads; ++h) {
      const at::Tensor turned = code.roll(b + 2 * (h / group), 0);
      r.target[b][h] =
          (seen + normal(seen.sizes(), test.seed + b + 2 * h).sigmoid() * seen).argmax(1);
      r.problem.q[b][h].copy_(256 * turned.index_select(0, r.target[b][h]));  // gaps of 1024
      r.problem.k[b][h / group].copy_(turned);
    }
  // Small integers, which every dtype and every sum holds exactly.
  r.problem.v.copy_(normal(r.problem.v.sizes(), test.seed, at::kLong));
  r.problem.d_o.copy_(normal(r.problem.d_o.sizes(), test.seed + 1, at::kLong));
  return r;
}

// O_i is the row of V that q_i points at, bit for bit, and LSE_i its score.
RC_GTEST_PROP(ContextParallelExact, RoutingReturnsTheRowPointedAt, ()) {
  const Routed r = routed();
  const reference::Tensors whole = run_pass(r.test, r.problem).whole;
  const at::Tensor v = r.problem.v.repeat_interleave(r.test.q_heads / r.test.kv_heads, 1);
  const at::Tensor rows = r.target.unsqueeze(-1).expand(whole.o.sizes());
  RC_ASSERT(at::equal(whole.o, v.gather(2, rows) * r.sees.unsqueeze(-1)));
  const at::Tensor lse = at::full_like(whole.lse, 256 * static_cast<double>(r.test.dim));
  RC_ASSERT(difference(whole.lse, lse.masked_fill(r.sees.logical_not(), -INFINITY)) == "");
}

// dV_j is the sum of dO over the rows that point at j; dQ = dK = 0, as P is one-hot.
RC_GTEST_PROP(ContextParallelExact, RoutingReturnsGradientsToTheRowPointedAt, ()) {
  const Routed r = routed();
  const reference::Tensors whole = run_pass(r.test, r.problem).whole;
  const at::Tensor d_o = r.problem.d_o.to(at::kDouble).nan_to_num(0) * r.sees.unsqueeze(-1);
  const at::Tensor rows = r.target.unsqueeze(-1).expand(d_o.sizes());
  const at::Tensor by_head = at::zeros_like(d_o).scatter_add_(2, rows, d_o);
  const at::Tensor dv = by_head.unflatten(1, {r.test.kv_heads, -1}).sum(2);
  RC_ASSERT(at::equal(whole.dv, dv.to(r.test.dtype)));
  RC_ASSERT(whole.dq.eq(0).all().item<bool>());
  RC_ASSERT(whole.dk.eq(0).all().item<bool>());
}

// Keys and values at a position do not change a bit of O, LSE and dQ of rows that may not see it:
// causality, windows and documents at once.
RC_GTEST_PROP(ContextParallelExact, InvisibleKeysDoNotMatter, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const int64_t key = *gen::between(0, test.seq - 1).as("key");
  const parity::Problem p = parity::problem_of(test);
  parity::Problem other = parity::problem_of(test);
  other.k.select(2, key).mul_(-2).add_(1);
  other.v.select(2, key).mul_(-2).add_(1);
  const Pass a = run_pass(test, p), b = run_pass(test, other);
  for (int64_t i = 0; i < test.seq; ++i) {
    if (visible(parity::mask_of(test), i, key))
      continue;
    for (const auto& [x, y] : {std::pair{a.whole.o, b.whole.o}, {a.whole.lse, b.whole.lse}})
      RC_ASSERT(difference(x.select(2, i), y.select(2, i)) == "");
    RC_ASSERT(at::equal(a.whole.dq.select(2, i), b.whole.dq.select(2, i)));  // 0 may be -0
  }
}

// A query and its dO do not change dK and dV of keys that it may not see, nor O of other rows.
RC_GTEST_PROP(ContextParallelExact, InvisibleQueriesDoNotMatter, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const int64_t query = *gen::between(0, test.seq - 1).as("query");
  const parity::Problem p = parity::problem_of(test);
  parity::Problem other = parity::problem_of(test);
  other.q.select(2, query).mul_(-2).add_(1);
  other.d_o.select(2, query).mul_(-2).add_(1);
  const Pass a = run_pass(test, p), b = run_pass(test, other);
  for (int64_t j = 0; j < test.seq; ++j) {
    if (!visible(parity::mask_of(test), query, j)) {
      RC_ASSERT(at::equal(a.whole.dk.select(2, j), b.whole.dk.select(2, j)));
      RC_ASSERT(at::equal(a.whole.dv.select(2, j), b.whole.dv.select(2, j)));
    }
    if (j == query)
      continue;
    for (const auto& [x, y] : {std::pair{a.whole.o, b.whole.o}, {a.whole.lse, b.whole.lse}})
      RC_ASSERT(difference(x.select(2, j), y.select(2, j)) == "");
    RC_ASSERT(at::equal(a.whole.dq.select(2, j), b.whole.dq.select(2, j)));
  }
}

// A power of two, a problem to multiply by it, and what comes of the problem as it is.
struct Scaled {
  parity::Case test;
  double factor;
  parity::Problem problem;
  reference::Tensors expected;
};

Scaled scaled() {
  parity::Case test = *gen::test_case().as("case");
  if (test.dtype == at::kHalf)
    test.dtype = at::kBFloat16;  // fp16 may underflow
  const double factor = *gen::choice<double>({2, 0.5, 64}).as("factor");
  parity::Problem p = parity::problem_of(test);
  return {test, factor, p, run_pass(test, p).whole};
}

// V times a power of two: O, dQ and dK times it, LSE and dV as they were, bit for bit.
RC_GTEST_PROP(ContextParallelExact, ResultsScaleWithV, ()) {
  auto [test, factor, p, expected] = scaled();
  p.v.mul_(factor);
  for (at::Tensor* x : {&expected.o, &expected.dq, &expected.dk})
    x->mul_(factor);
  RC_ASSERT(difference(run_pass(test, p).whole, expected) == "");
}

// Q times a power of two and K divided by it: the same scores, bit for bit; gradients the other
// way.
RC_GTEST_PROP(ContextParallelExact, ScoresKeepTheirProduct, ()) {
  auto [test, factor, p, expected] = scaled();
  p.q.mul_(factor);
  p.k.mul_(1 / factor);
  expected.dq.mul_(1 / factor);
  expected.dk.mul_(factor);
  RC_ASSERT(difference(run_pass(test, p).whole, expected) == "");
}

// dO times a power of two: all gradients times it, bit for bit.
RC_GTEST_PROP(ContextParallelExact, GradientsScaleWithTheirSource, ()) {
  auto [test, factor, p, expected] = scaled();
  p.d_o.mul_(factor);
  for (at::Tensor* x : {&expected.dq, &expected.dk, &expected.dv})
    x->mul_(factor);
  RC_ASSERT(difference(run_pass(test, p).whole, expected) == "");
}

}  // namespace
}  // namespace ringcheck
