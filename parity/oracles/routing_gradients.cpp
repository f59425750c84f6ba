// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cmath>

#include "parity/judge/exact/exact.h"
#include "parity/judge/exact/routes.h"

namespace ringcheck::parity {
namespace {

// How far P = exp(S - L) may be from 1 when the backward pass forms it anew: exp, the conversion
// of L between bases, and, where the scale rounds, two evaluations of S.
at::Tensor error_of_p(const Case& test, const reference::Contract& c, const at::Tensor& score) {
  int exponent = 0;
  const bool exact_scores = std::abs(std::frexp(scale_of(test), &exponent)) == 0.5;
  const double chain = 4 + (exact_scores ? 0.0 : 2.0 * (static_cast<double>(test.dim) + 1));
  return c.u_a * (c.c_e + chain * (1 + score.abs()));
}

// Sums over the queries that chose a key: x [batch, q_heads, seq, n] to [batch, kv_heads, seq, n].
at::Tensor sum_by_key(const Case& test, const at::Tensor& x, const Routes& routes) {
  const at::Tensor rows = routes.key.unsqueeze(3).expand_as(x);
  const at::Tensor seen = x.masked_fill(routes.score.isneginf().unsqueeze(3), 0);
  return at::zeros_like(x).scatter_add_(2, rows, seen)
      .unflatten(1, {test.kv_heads, test.q_heads / test.kv_heads}).sum(2);
}

// dS = P (dO v - D), of the key that is chosen: where merges by differences leave e of O, D is off by dO e, and
// by the rounding of what is no sum of few bits any more; dS may be rounded to 16 bits. [batch, q_heads, seq, 1].
at::Tensor error_of_ds(const Evidence& evidence, const at::Tensor& d_o) {
  const double u_d = evidence.promise().contract.u_d;
  const double rounding = (static_cast<double>(evidence.test.dim_v) + 2) / 6;  // of 6 u_d M
  if (u_d == 0) return at::zeros({1, 1, 1, 1}, at::kDouble);
  return (d_o.abs() * error_of_merges(evidence)).sum({3}, true) * (1 + rounding) * (1 + 0x1p-7);
}

// That as an error of dQ, and summed as one of dK.
at::Tensor error_of_dq(const Evidence& evidence, const Routes& routes, const at::Tensor& d_s) {
  const at::Tensor k = for_query_heads(evidence.test, evidence.problem.k).nan_to_num().abs();
  const at::Tensor chosen = k.gather(2, routes.key.unsqueeze(3).expand({-1, -1, -1, k.size(3)}));
  return std::abs(scale_of(evidence.test)) * chosen * d_s;
}
at::Tensor error_of_dk(const Evidence& evidence, const Routes& routes, const at::Tensor& d_s) {
  const at::Tensor q = evidence.problem.q.cpu().to(at::kDouble).nan_to_num().abs();
  return std::abs(scale_of(evidence.test)) * sum_by_key(evidence.test, q * d_s, routes);
}

OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  if (test.data != "routing") return not_applicable("queries do not choose one key each");
  const Routes routes = routes_of(evidence);
  const at::Tensor d_o = evidence.problem.d_o.cpu().to(at::kDouble).nan_to_num();
  const at::Tensor d_s = error_of_ds(evidence, d_o);
  const at::Tensor off = error_of_p(test, evidence.promise().contract, routes.score)
                             .masked_fill(routes.score.isinf(), 0);
  const reference::Tensors& actual = evidence.outcome.tensors;
  const auto zeros = [](const at::Tensor& like) { return at::zeros(like.sizes(), at::kDouble); };
  return verdict_of(
      {compare_exact(test, "dq", actual.dq, zeros(evidence.problem.q), error_of_dq(evidence, routes, d_s)),
       compare_exact(test, "dk", actual.dk, zeros(evidence.problem.k), error_of_dk(evidence, routes, d_s)),
       compare_exact(test, "dv", actual.dv, sum_by_key(test, d_o, routes),
                     sum_by_key(test, d_o.abs() * off.unsqueeze(3), routes))});
}

const Oracles::Add registered{
    "routing-gradients",
    {"where P is one-hot, dQ = dK = 0 in every bit (but for what merges by differences, where promised, leave of O "
     "in D = rowsum(dO O)), and dV_j is the sum of dO_i over the i with pi(i) = j, "
     "rounded once (float32 and float64: within the error of exp(S - L))",
     judge, {}, Oracle::Rigour::kExact, "one product of S x S x d in float64 a head"}};

}  // namespace
}  // namespace ringcheck::parity
