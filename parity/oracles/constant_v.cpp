// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cmath>

#include "parity/judge/exact/exact.h"

namespace ringcheck::parity {
namespace {

// |tau| |q_i| max_j |k_j|, which no score exceeds; a rotation changes no length. [batch, q_heads, seq]
at::Tensor largest_score(const Case& test, const Problem& problem) {
  const auto length = [&](const at::Tensor& x) {
    return without_pads(test, x).square().sum(3).sqrt();
  };
  const at::Tensor longest = length(for_query_heads(test, problem.k)).amax(2, true);
  return std::abs(scale_of(test)) * length(problem.q.cpu().to(at::kDouble)) * longest;
}

// (4) of docs/numerics.md with v = O = 1: errors of the scores cancel, those of the normaliser and
// the roundings of P and O are left.
OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  if (test.data != "ones") return not_applicable("v is not constant");
  const Promise promise = evidence.promise();
  const reference::Contract& c = promise.contract;
  const at::Tensor n = keys_seen(test);
  const at::Tensor lse = largest_score(test, evidence.problem) + n.clamp_min(1).log();
  const double rounding = c.u_p + c.u_in + (c.u_m > c.u_a ? c.u_m + c.eta_o : c.u_a) + c.u_o;
  const at::Tensor seen = n > 0;
  at::Tensor bound = rounding + n * (c.u_a + c.eta_p) + 4.0 * promise.partials * c.u_a * (1 + lse);
  if (test.dtype == at::kDouble) bound = bound * 2;
  bound = at::where(seen, bound, 0.0).unsqueeze(3);
  const std::vector<int64_t> sizes{test.batch, test.q_heads, test.seq, test.dim_v};
  const at::Tensor one = seen.to(at::kDouble).unsqueeze(3).expand(sizes).contiguous();
  bound = bound.expand(sizes).contiguous();
  return verdict_of({compare(test, "o", evidence.outcome.tensors.o.cpu(), one, bound, bound / 3)});
}

const Oracles::Add registered{
    "constant-v",
    {"where v = 1, O = 1: numerator and denominator of the softmax are of the same P_ij", judge,
     {}, Oracle::Rigour::kBound, "S (d + dv) a head"}};

}  // namespace
}  // namespace ringcheck::parity
