// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/exact/exact.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::parity {
namespace {

// The tensors of one query head in float64, without pads.
struct Head {
  at::Tensor q, k, v, d_o;  // [seq, dim or dim_v]
};

struct Results {
  at::Tensor o, dq, dk, dv;
};

// Attention of equal scores from its definition. p: 1 / n_i where i sees j. Every number is an
// integer of far less than 53 bits over a power of two, so float64 is exact. With magnitudes, each
// term of a gradient counts by its absolute value; those of O are not negative.
Results attend(const Head& h, const at::Tensor& p, double scale, bool magnitudes) {
  const auto term = [&](const at::Tensor& x) { return magnitudes ? x.abs() : x; };
  const at::Tensor o = p.matmul(h.v);
  const at::Tensor delta = (h.d_o * o).sum(1, true);
  const at::Tensor ds = term(p * (h.d_o.matmul(h.v.t()) - delta)) * (magnitudes ? std::abs(scale) : scale);
  return {o, ds.matmul(term(h.k)), ds.t().matmul(term(h.q)), p.t().matmul(term(h.d_o))};
}

// All heads, where the inputs lie; the gradients of k and v are summed over the query heads that share them.
Results exact(const Evidence& evidence, bool magnitudes) {
  const Case& test = evidence.test;
  const auto wide = [](const at::Tensor& x) { return x.to(at::kDouble).nan_to_num(); };
  const at::Tensor q = wide(evidence.problem.q), k = wide(evidence.problem.k);
  const at::Tensor v = wide(evidence.problem.v), d_o = wide(evidence.problem.d_o);
  const at::Tensor n = keys_seen(test).clamp_min(1);
  Results all{at::zeros_like(d_o), at::zeros_like(q), at::zeros_like(k), at::zeros_like(v)};
  for (int64_t b = 0; b < test.batch; ++b) {
    const at::Tensor seen =
        reference::visible_pairs(mask_of(test, b), {0, test.seq}, {0, test.seq}).to(q.device());
    const at::Tensor p = seen.to(at::kDouble) / n[b][0].to(q.device()).unsqueeze(1);
    for (int64_t h = 0; h < test.q_heads; ++h) {
      const int64_t shared = h / (test.q_heads / test.kv_heads);
      const Results head =
          attend({q[b][h], k[b][shared], v[b][shared], d_o[b][h]}, p, scale_of(test), magnitudes);
      all.o[b][h].copy_(head.o);
      all.dq[b][h].copy_(head.dq);
      all.dk[b][shared].add_(head.dk);
      all.dv[b][shared].add_(head.dv);
      evidence.tick();
    }
  }
  return all;
}

OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  if (test.data != "snap") return not_applicable("results have more bits than the dtype");
  const Promise promise = evidence.promise();
  const reference::Contract& c = promise.contract;
  if (c.u_o == c.u_a || test.dtype == at::kFloat)
    return not_applicable("only rounding to 16 bits takes the error of the accumulation away");
  if (c.u_m > c.u_a)
    return not_applicable("the subject rounds partial results to 16 bits");
  const double log_n = keys_seen(test).max().log().item<double>();
  // Of P, from LSE and exp; as a rule it decides how no element is rounded.
  const double noise = 2 * c.u_a * (c.c_e + 4.0 * (1 + promise.partials) * (1 + log_n));
  const Results value = exact(evidence, false), terms = exact(evidence, true);
  const reference::Tensors& actual = evidence.outcome.tensors;
  return verdict_of({compare_exact(test, "o", actual.o, value.o, terms.o * noise),
                     compare_exact(test, "dq", actual.dq, value.dq, terms.dq * noise),
                     compare_exact(test, "dk", actual.dk, value.dk, terms.dk * noise),
                     compare_exact(test, "dv", actual.dv, value.dv, terms.dv * noise)});
}

const Oracles::Add registered{
    "snap",
    {"where all P_ij are 2^-k and the inputs small integers, O, dQ, dK and dV are the exact values rounded "
     "once, whatever the number of merges",
     judge, {}, Oracle::Rigour::kExact, "6 products of S x S x d in float64 a head"}};

}  // namespace
}  // namespace ringcheck::parity
