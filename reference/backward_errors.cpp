// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/backward_errors.h"

#include <ATen/ATen.h>

#include <cmath>

#include "reference/score_gradient_errors.h"

namespace ringcheck::reference {
namespace {

// The relative error of a sum over n terms with `merges` more additions, in the accumulator and by
// the rounding of partial results. It multiplies every term.
Error chain_error(const ErrorModel& model, const at::Tensor& n, double merges) {
  const double partial = model.partial_rounding();
  return {n * model.contract.u_a + partial,
          model.unit_variance() * (model.effective(n) / 2 + 2 + merges) + partial * partial / 3};
}

void add_to_columns(const at::Tensor& sum, Range columns, const at::Tensor& a,
                    const at::Tensor& b) {
  sum.narrow(1, columns.begin, columns.size).baddbmm_(a.mT(), b);
}

// One factor a key: [1, seq, 1] to [1, 1, columns].
at::Tensor of_columns(const at::Tensor& x, Range columns) {
  return x.narrow(1, columns.begin, columns.size).mT();
}

// Sums over the keys of a row.
struct KeySums {
  at::Tensor bound;     // of (B^T + |T| chain) |k|
  at::Tensor variance;  // of ((sigma^T)^2 + T^2 chain) k^2
  at::Tensor p_k;       // of P k
  at::Tensor p_g_k;     // of P sigma^G k
};

void add(KeySums& sums, const Operand& k, const Scores& scores, const ScoreGradients& t,
         const Error& chain) {
  add_product(sums.bound, at::addcmul(t.error.bound, t.magnitude, chain.bound), k.magnitude);
  add_product(sums.variance, at::addcmul(t.error.variance, t.square, chain.variance), k.square);
  add_product(sums.p_k, scores.p, k.value);
  add_product(sums.p_g_k, t.p_g, k.value);
}

// Formula (7) from its sums.
Error dq_error(const ErrorModel& model, const StripView& strip, const ForwardErrors& forward,
               const KeySums& sums, const Error& chain) {
  const double scale = std::abs(strip.scale), u_p = model.contract.u_p;
  const double step = model.partial_step();
  return {(sums.p_k.abs().mul_(forward.delta.bound) + sums.bound)
              .mul_(scale)
              .addcmul_(strip.dq.abs(), forward.lse.bound)
              .add_(model.world * step),
          (sums.p_k.square().mul_(forward.delta.variance) + sums.variance)
              .addcmul_(sums.p_g_k, sums.p_g_k)
              .mul_(scale * scale)
              .addcmul_(strip.dq.square(), forward.lse.variance + chain.variance + u_p * u_p / 3)
              .add_(model.world * step * step / 3)};
}

}  // namespace

BackwardErrors::BackwardErrors(const ErrorModel& model, const Keys& keys)
    : model_(model),
      keys_(keys),
      dk_chain_(chain_error(model, keys.queries, model.world)),
      dv_chain_(chain_error(model, keys.queries, 0)) {
  for (at::Tensor* sum : {&dk_.bound, &dk_.variance, &p_delta_q_, &t_lse_q_, &p_g_q_})
    *sum = at::zeros_like(keys.k.value);
  for (at::Tensor* sum : {&dv_.bound, &dv_.variance, &p_lse_do_})
    *sum = at::zeros_like(keys.v.value);
}

Error BackwardErrors::add_strip(const StripView& strip, const ForwardErrors& forward,
                                ScoreErrors& scores, const std::function<void()>& tick) {
  const at::Tensor sigma_lse = forward.lse.variance.sqrt();
  const Rows rows{strip, forward, strip.q.value * forward.delta.variance.sqrt(),
                  strip.q.value * sigma_lse, strip.d_o.value * sigma_lse};
  const Error chain = chain_error(model_, strip.keys, model_.world);
  KeySums sums;
  // From the last tile, which `scores` still remembers, to the first.
  for (auto tile = strip.strip.tiles.rbegin(); tile != strip.strip.tiles.rend(); ++tile) {
    const Scores& s = scores(*tile);
    const ScoreGradients t = score_gradients(model_, strip, *tile, keys_.v.rows(tile->columns), s);
    add(sums, keys_.k.rows(tile->columns), s, t, chain);
    add_dk(rows, tile->columns, s, t);
    add_dv(rows, tile->columns, s, t);
    if (tick)
      tick();
  }
  return dq_error(model_, strip, forward, sums, chain);
}

void BackwardErrors::add_dk(const Rows& rows, Range columns, const Scores& s,
                            const ScoreGradients& t) {
  const auto& [lse, o, delta] = rows.forward;
  const at::Tensor bound = at::addcmul(t.error.bound, s.p, delta.bound)
                               .addcmul_(t.magnitude, of_columns(dk_chain_.bound, columns) +
                                                          (lse.bound + model_.contract.u_in));
  const at::Tensor variance =
      at::addcmul(t.error.variance, s.p_square, delta.variance)
          .addcmul_(t.square, of_columns(dk_chain_.variance, columns) + lse.variance);
  add_to_columns(dk_.bound, columns, bound, rows.strip.q.magnitude);
  add_to_columns(dk_.variance, columns, variance, rows.strip.q.square);
  add_to_columns(p_delta_q_, columns, s.p, rows.q_sigma_delta);
  add_to_columns(t_lse_q_, columns, t.value, rows.q_sigma_lse);
  add_to_columns(p_g_q_, columns, t.p_g, rows.strip.q.value);
}

void BackwardErrors::add_dv(const Rows& rows, Range columns, const Scores& s,
                            const ScoreGradients& t) {
  const double u_a = model_.contract.u_a, u_in = model_.contract.u_in;
  const Error& lse = rows.forward.lse;
  const at::Tensor rounding = model_.operand_rounding(s.p);
  const at::Tensor bound = (of_columns(dv_chain_.bound, columns) + (lse.bound + 2 * u_in))
                               .add_(s.exponential.bound)
                               .mul_(s.p)
                               .add_(rounding)
                               .add_(t.p_lost);
  const at::Tensor variance =
      (of_columns(dv_chain_.variance, columns) + (lse.variance + (u_a * u_a + 2 * u_in * u_in) / 3))
          .add_(s.exponential.variance)
          .mul_(s.p_square)
          .addcmul_(rounding, rounding, 1. / 3)
          .addcmul_(t.p_lost, t.p_lost, 1. / 3);
  add_to_columns(dv_.bound, columns, bound, rows.strip.d_o.magnitude);
  add_to_columns(dv_.variance, columns, variance, rows.strip.d_o.square);
  add_to_columns(p_lse_do_, columns, s.p, rows.do_sigma_lse);
}

Error BackwardErrors::dk(double scale, const at::Tensor& dk) const {
  const double u_p = model_.contract.u_p, step = model_.partial_step();
  const double partials = model_.world * keys_.shared;
  return {dk_.bound * std::abs(scale) + partials * step,
          (dk_.variance + p_delta_q_.square() + t_lse_q_.square() + p_g_q_.square())
              .mul_(scale * scale)
              .addcmul_(dk.square(), dk_chain_.variance + u_p * u_p / 3)
              .add_(partials * step * step / 3)};
}

Error BackwardErrors::dv(const at::Tensor& dv) const {
  const double u_p = model_.contract.u_p, step = model_.partial_step();
  const double partials = model_.world * keys_.shared;
  return {dv_.bound + partials * step,
          (dv_.variance + p_lse_do_.square())
              .addcmul_(dv.square(), dv_chain_.variance + u_p * u_p / 3)
              .add_(partials * step * step / 3)};
}

}  // namespace ringcheck::reference
