// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/laws.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace ringcheck::parity {
namespace {

double square(double x) { return x * x; }

// The variances of docs/conservation.md, [batch, kv_heads, 1] where they depend on the data.
struct Scales {
  double stored;            // eta_o^2/3: one stored number below the smallest normal one
  double merged;            // u_m^2/3: a partial result
  at::Tensor underflow;     // n eta_p^2/3: P of a row, each by its underflow step
  at::Tensor ds_underflow;  // n (tau eta_T)^2/3: the same of dS, and what it is multiplied by
  at::Tensor row;           // rho: relative, of all P of a row
  at::Tensor coherent;      // psi: relative, of what is rounded alike because it is alike
  at::Tensor lost;          // lambda: relative, of what is chopped off sums, with one sign
  at::Tensor each;          // alpha: relative, of what is rounded independently
  at::Tensor product;       // Gamma: of <dO, v>, relative to |dO|^2
  struct OfGradients {      // the same of dQ, dK and dV
    at::Tensor stored, coherent, each;
  } gradient;
};

Scales scales_of(const ConservationSums& s, const Arithmetic& how) {
  const reference::Contract& c = how.contract;
  const double d = static_cast<double>(s.k.size(-1)), d_v = static_cast<double>(s.dv.size(-1));
  const at::Tensor n = s.keys_of_entry.clamp_min(1), queries = s.queries_of_entry.clamp_min(1);
  const double unit = square(c.u_a) / 3, input = square(c.u_in) / 3, world = how.world;
  Scales x;
  x.stored = square(std::max(c.eta_o, c.eta_e)) / 3;
  x.merged = c.u_m > c.u_a ? square(c.u_m) / 3 : 0;
  x.underflow = n * square(c.eta_p) / 3;
  x.ds_underflow = n * square(how.scale * c.ds_step(how.scale)) / 3;
  const at::Tensor score = how.scale * how.scale * s.q_largest.square() * s.k_largest.square();
  x.row = unit * ((5 * d / 6 + 4) * score + square(c.c_e) + n / 3 + 2 +
                  3 * (1 + world) * (1 + 4 * (score + n.log().square()))) +
          2 * input * score;
  // How far the logits of a row spread: the sum over channels of E[q^2] var(k).
  const at::Tensor k_variance = (s.k_squares / n - (s.k / n).square()).clamp_min(0);
  const at::Tensor spread =
      how.scale * how.scale * (s.q_squares / queries * k_variance).sum(-1, true);
  const double widest = std::max({c.u_p, c.u_o, x.merged > 0 ? c.u_m : 0});
  const auto alike = [&](double unit) { return (square(unit) / spread).clamp_max(1); };
  x.coherent = ((square(c.u_p) + square(c.u_o)) / 3 + x.merged + x.row) * alike(widest) +
               (n * c.eta_p).clamp_max(1).square() / 3;
  const at::Tensor chain = unit * (at::maximum(n, queries) / 2 + 2 + world);
  x.lost = (at::maximum(n, queries) * c.lost_of(1)).square();
  x.each = x.lost + (square(c.u_o) + square(c.u_p)) / 3 + 3 * input + 2 * x.merged + 2 * chain + x.row;
  x.product = (unit * (5 * d_v / 6 + 6) + 2 * input + x.underflow) * s.v_largest.square();
  x.gradient = {at::full_like(n, (1 + how.gradient_terms) * x.stored), x.coherent, x.each};
  if (how.gradients) {
    // The sum of a key may be as large after its first run as at its end: so under a causal mask.
    const Accumulation& kept = *how.gradients;
    const at::Tensor runs = (at::maximum(n, queries) / static_cast<double>(kept.length)).ceil();
    x.gradient.stored = x.gradient.stored + runs * square(kept.eta) / 3;
    x.gradient.coherent = x.coherent + runs * square(kept.u) / 3 * alike(std::max(widest, kept.u));
    x.gradient.each = x.each + runs * square(kept.u) / 3;
  }
  return x;
}

// Errors follow the numbers that were added, of which only the sums are known: what cancels by
// chance in one channel does not in all.
at::Tensor with_mean(const at::Tensor& squares) { return squares + squares.mean(-1, true); }

// Where scores are alike so are the dV of keys that the same queries see, and their roundings: of a
// group of keys the sum is at most n times the sum of squares.
Law dv_sums_to_do(const ConservationSums& s, const Scales& x) {
  const at::Tensor n = s.keys_of_entry.clamp_min(1);
  return {"C1", "sum dV = sum dO", s.dv - s.d_o,
          x.gradient.each * with_mean(s.dv_squares) + x.row * s.d_o_squares +
              x.gradient.coherent * (s.d_o_squares + s.d_o.square() + n * s.dv_squares) +
              x.lost * (s.d_o_squares + s.d_o.square()) +
              x.gradient.stored * s.keys_of_entry,
          s.d_o};
}

Law dk_sums_to_zero(const ConservationSums& s, const Scales& x, double scale) {
  const at::Tensor errors_of_d = x.each * s.q_output_squares +
                                 (x.coherent + x.each) * s.q_d_squares + x.lost * s.q_d.square() +
                                 x.product * s.q_d_o_squares;
  return {"C2", "sum dK = 0", s.dk,
          x.gradient.each * with_mean(s.dk_squares) + x.gradient.stored * s.keys +
              scale * scale * errors_of_d + x.ds_underflow * s.q_squares,
          scale * s.q_d};
}

Law scores_are_bilinear(const ConservationSums& s, const Scales& x, const Arithmetic& how) {
  const at::Tensor n = s.keys_of_entry.clamp_min(1);
  const at::Tensor k_largest = s.k_largest.square();
  const at::Tensor difference = s.dq_q - s.dk_k;
  const at::Tensor variance =
      x.gradient.each *
          with_mean(s.dq_q_squares + s.dk_k_squares + (s.k / n).square() * s.dk_squares) +
      k_largest * (how.scale * how.scale * x.product * s.q_d_o_squares + x.ds_underflow * s.q_squares) +
      x.gradient.stored * (s.q_squares + s.k_squares);
  const char* says = "sum dQ q = sum dK k";
  const auto lost = [&](const at::Tensor& dq_q, const at::Tensor& dk_k) { return x.lost * (dq_q.square() + dk_k.square()); };
  if (how.rotated) return {"C3", says, difference, variance + lost(s.dq_q, s.dk_k), s.dk_k};
  const auto all = [](const at::Tensor& t) { return t.sum(-1, true); };
  return {"C3", says, all(difference),
          all(variance) + x.gradient.each * (s.dq_q_norms + s.dk_k_norms) + lost(all(s.dq_q), all(s.dk_k)), all(s.dk_k),
          true};
}

Law output_is_linear_in_v(const ConservationSums& s, const Scales& x) {
  return {"C4", "sum dV v = sum dO O", s.dv_v - s.do_o,
          x.each * with_mean(s.do_o_squares) + x.gradient.each * with_mean(s.dv_v_squares) +
              (x.coherent + x.gradient.coherent) * (s.do_o_squares + s.do_o.square()) +
              x.lost * (s.dv_v.square() + s.do_o.square()) +
              x.underflow * s.v_largest.square() * s.d_o_squares +
              x.gradient.stored * s.v_squares + x.stored * s.d_o_squares,
          s.dv_v};
}

}  // namespace

std::vector<Law> laws_of(const ConservationSums& sums, const Arithmetic& how) {
  const Scales scales = scales_of(sums, how);
  return {dv_sums_to_do(sums, scales), dk_sums_to_zero(sums, scales, how.scale),
          scores_are_bilinear(sums, scales, how), output_is_linear_in_v(sums, scales)};
}

}  // namespace ringcheck::parity
