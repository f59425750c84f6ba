// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "parity/judge/exact/exact.h"

namespace ringcheck::parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The score S_i that a query gives to every key, and tau times the sum of |q_ic k_c|.
struct EqualScores {
  at::Tensor value, magnitude;  // [batch, q_heads, seq]; 0 in pad slots
};

EqualScores scores_of(const Case& test, const Problem& problem) {
  const at::Tensor q = problem.q.cpu().to(at::kDouble).nan_to_num();
  // One token's key is that of all; pad slots hold NaN.
  const at::Tensor key = for_query_heads(test, problem.k).nan_to_num(-kInfinity).amax(2, true);
  const at::Tensor terms = (q * key.masked_fill(key.isinf(), 0)) * scale_of(test);
  return {terms.sum(3), terms.abs().sum(3)};
}

// (1) to (4) of docs/numerics.md with S_ij = m_i = S_i and P_ij = 1 / n_i.
OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  if (test.data != "equal-keys") return not_applicable("keys are not equal");
  const Promise promise = evidence.promise();
  const reference::Contract& c = promise.contract;
  const EqualScores s = scores_of(test, evidence.problem);
  const at::Tensor n = keys_seen(test), seen = n > 0, log_n = n.clamp_min(1).log();
  const double twice = test.dtype == at::kDouble ? 2 : 1;
  const double u_m = c.u_m > c.u_a ? c.u_m : 0, eta_m = c.u_m > c.u_a ? c.eta_o : 0;
  const double partials = promise.partials;

  const at::Tensor lse = s.value + log_n;
  const at::Tensor exponential = (static_cast<double>(test.dim) * c.u_a + 2 * c.u_in) * s.magnitude +
                                 c.u_a * (2 * s.value.abs() + c.c_e);
  const at::Tensor lse_bound =
      exponential + n * c.u_a + 4 * (1 + partials) * c.u_a * (1 + lse.abs() + s.value.abs());

  const at::Tensor count = n.clamp_min(1).unsqueeze(3);
  const auto mean = [&](const at::Tensor& v) {
    return for_query_heads(test, sum_of_visible(evidence, v) / count);
  };
  const at::Tensor o = mean(evidence.problem.v), magnitude = mean(evidence.problem.v.abs());
  const at::Tensor chain = (c.u_p + c.u_in + u_m + n * (c.u_a + c.eta_p) +
                            4 * partials * c.u_a * (1 + lse.abs())).unsqueeze(3);
  const at::Tensor o_bound = exponential.unsqueeze(3) * (magnitude + o.abs()) + chain * magnitude +
                             (o.abs() * c.u_o).clamp_min(std::max(c.eta_o, c.eta_e)) + eta_m;

  const auto compared = [&](const char* name, const at::Tensor& actual, const at::Tensor& value,
                            const at::Tensor& bound) {
    return compare(test, name, actual.cpu(), value, bound, bound / 3);
  };
  std::vector<TensorVerdict> tensors{
      compared("o", evidence.outcome.tensors.o, o, at::where(seen.unsqueeze(3), twice * o_bound, 0.0))};
  if (evidence.outcome.tensors.lse.defined())
    tensors.push_back(compared("lse", evidence.outcome.tensors.lse, lse.masked_fill(n == 0, -kInfinity),
                               at::where(seen, twice * lse_bound, 0.0)));
  return verdict_of(std::move(tensors));
}

const Oracles::Add registered{
    "equal-keys",
    {"where all k_j are equal, O_i is the mean of the v_j that i sees, and L_i = S_i + ln n_i",
     judge,
     {}, Oracle::Rigour::kBound, "S x S a mask, S x S x dv a head"}};

}  // namespace
}  // namespace ringcheck::parity
