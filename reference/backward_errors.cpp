// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/backward_errors.h"

#include <ATen/ATen.h>

#include <cmath>

#include "reference/evaluate.h"

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

Errors of_rows(const Error& e) { return {elements(e.bound), elements(e.variance)}; }
Errors of_columns(const Error& e, Range columns) {
  return {elements(e.bound) + columns.begin, elements(e.variance) + columns.begin};
}
ErrorsOut written(const Error& e) { return {writable(e.bound), writable(e.variance)}; }

// Sums over the keys of a row.
struct KeySums {
  at::Tensor bound;     // of (B^T + |T| chain) |k|
  at::Tensor variance;  // of ((sigma^T)^2 + T^2 chain) k^2
  at::Tensor p_k;       // of P k
  at::Tensor p_g_k;     // of P sigma^G k
};

void add(KeySums& sums, const Operand& k, const Scores& scores, const ScoreGradients& t) {
  add_product(sums.bound, t.dq.bound, k.magnitude);
  add_product(sums.variance, t.dq.variance, k.square);
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
  const Rows rows{strip,
                  forward,
                  chain_error(model_, strip.keys, model_.world),
                  strip.q.value * forward.delta.variance.sqrt(),
                  strip.q.value * sigma_lse,
                  strip.d_o.value * sigma_lse};
  KeySums sums;
  // From the last tile, which `scores` still remembers, to the first.
  for (auto tile = strip.strip.tiles.rbegin(); tile != strip.strip.tiles.rend(); ++tile) {
    const Scores& s = scores(*tile);
    const ScoreGradients t = gradients(rows, *tile, s);
    add(sums, keys_.k.rows(tile->columns), s, t);
    add_dk(rows, tile->columns, s, t);
    add_dv(rows, tile->columns, s, t);
    if (tick)
      tick();
  }
  return dq_error(model_, strip, forward, sums, rows.dq_chain);
}

ScoreGradients BackwardErrors::gradients(const Rows& rows, const Tile& tile,
                                         const Scores& scores) const {
  const StripView& strip = rows.strip;
  const Operand v = keys_.v.rows(tile.columns);
  const auto like = [&] { return Error{at::empty_like(scores.p), at::empty_like(scores.p)}; };
  const ScoreGradients t{at::bmm(strip.d_o.value, v.value.mT()),
                         at::bmm(strip.d_o.magnitude, v.magnitude.mT()), like(), like(), like()};
  const at::Tensor g_square = at::bmm(strip.d_o.square, v.square.mT());
  BackwardFormula formula{formula_of(model_, strip, tile)};
  formula.p = elements(scores.p);
  formula.e_bound = elements(scores.exponential.bound);
  formula.e_variance = elements(scores.exponential.variance);
  formula.g = writable(t.t);
  formula.g_size = writable(t.p_g);
  formula.g_square = elements(g_square);
  formula.delta = elements(strip.delta);
  formula.delta_error = of_rows(rows.forward.delta);
  formula.lse_error = of_rows(rows.forward.lse);
  formula.dq_chain = of_rows(rows.dq_chain);
  formula.dk_chain = of_columns(dk_chain_, tile.columns);
  formula.dv_chain = of_columns(dv_chain_, tile.columns);
  formula.dq = written(t.dq);
  formula.dk = written(t.dk);
  formula.dv = written(t.dv);
  evaluate(formula, strip.sum.numel(), scores.p.device());
  return t;
}

void BackwardErrors::add_dk(const Rows& rows, Range columns, const Scores& s,
                            const ScoreGradients& t) {
  add_to_columns(dk_.bound, columns, t.dk.bound, rows.strip.q.magnitude);
  add_to_columns(dk_.variance, columns, t.dk.variance, rows.strip.q.square);
  add_to_columns(p_delta_q_, columns, s.p, rows.q_sigma_delta);
  add_to_columns(t_lse_q_, columns, t.t, rows.q_sigma_lse);
  add_to_columns(p_g_q_, columns, t.p_g, rows.strip.q.value);
}

void BackwardErrors::add_dv(const Rows& rows, Range columns, const Scores& s,
                            const ScoreGradients& t) {
  add_to_columns(dv_.bound, columns, t.dv.bound, rows.strip.d_o.magnitude);
  add_to_columns(dv_.variance, columns, t.dv.variance, rows.strip.d_o.square);
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
