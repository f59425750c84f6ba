// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/backward_errors.h"

#include <ATen/ATen.h>

#include <cmath>

#include "reference/errors/evaluate.h"

namespace ringcheck::reference {
namespace {

// The relative error of a sum over n terms with `merges` more additions, in the accumulator and by
// the rounding of partial results. It multiplies every term.
Error chain_error(const ErrorModel& model, const at::Tensor& n, double merges) {
  const double partial = model.partial_rounding();
  return {n * model.contract.u_a + partial,
          model.unit_variance() * (model.effective(n) / 2 + 2 + merges) + model.lost(n) + partial * partial / 3};
}

// The products of transposed terms, which are sums over queries, are added to those of some keys.
void add_to_columns(const at::Tensor& sum, Range columns, const at::Tensor& a,
                    const at::Tensor& b) {
  sum.narrow(1, columns.begin, columns.size).baddbmm_(a.mT(), b);
}
void add_to_columns(const at::Tensor& sums, Range columns, const Terms& a, const Operand& b) {
  batched(sums.narrow(2, columns.begin, columns.size))
      .baddbmm_(batched(a.all).mT(), batched(b.all));
}

Errors of_rows(const Error& e) { return {elements(e.bound), elements(e.variance)}; }
Errors of_columns(const Error& e, Range columns) {
  return {elements(e.bound) + columns.begin, elements(e.variance) + columns.begin};
}

// Sums over the keys of a row.
struct KeySums {
  at::Tensor t_k;    // [pairs, rows, dim], of T k
  at::Tensor p_k;    // [pairs, rows, dim], of P k
  at::Tensor terms;  // [3, pairs, rows, dim]: of P sigma^G k, (B^T + |T| chain) |k|, and
                     // ((sigma^T)^2 + T^2 chain) k^2
};

// dQ and formula (7) from their sums.
Gradient dq_of(const ErrorModel& model, const StripView& strip, const ForwardErrors& forward,
               const KeySums& sums, const Error& chain) {
  const at::Tensor dq = sums.t_k * strip.scale;
  const Error error{at::empty_like(dq), at::empty_like(dq)};
  const at::Tensor flushed = model.flushed(strip.keys);
  QueryGradientFormula formula{{formula_of(model, dq, sums.terms, flushed, error)}};
  formula.scale = std::abs(strip.scale);
  formula.partials = model.partials;
  formula.p_k = elements(sums.p_k);
  formula.delta = of_rows(forward.delta);
  formula.lse = of_rows(forward.lse);
  formula.chain_variance = elements(chain.variance);
  evaluate(formula, strip.sum.numel(), dq.device());
  return {dq, error};
}

}  // namespace

BackwardErrors::BackwardErrors(const ErrorModel& model, const Keys& keys, const Room& room)
    : model_(model),
      keys_(keys),
      room_(room),
      dk_chain_(chain_error(model, keys.queries, model.key_partials)),
      dv_chain_(chain_error(model, keys.queries, 0)),
      t_q_(at::zeros_like(keys.k.value())),
      p_d_o_(at::zeros_like(keys.v.value())),
      dk_(at::zeros_like(keys.k.all)),
      dv_(at::zeros_like(keys.v.all)),
      p_delta_q_(at::zeros_like(keys.k.value())),
      p_g_q_(at::zeros_like(keys.k.value())) {}

Gradient BackwardErrors::add_strip(const StripView& strip, const ForwardErrors& forward,
                                   Scores& scores, const std::function<void()>& tick) {
  const at::Tensor sigma_lse = forward.lse.variance.sqrt();
  const Rows rows{strip,
                  forward,
                  chain_error(model_, strip.keys, model_.partials),
                  strip.q.with_value(strip.q.value() * sigma_lse),
                  strip.d_o.with_value(strip.d_o.value() * sigma_lse),
                  strip.q.value() * forward.delta.variance.sqrt()};
  KeySums sums;
  // From the last tile, which `scores` still remembers, to the first.
  for (auto tile = strip.strip.tiles.rbegin(); tile != strip.strip.tiles.rend(); ++tile) {
    const Operand k = keys_.k.rows(tile->columns);
    const ScoreGradients t = gradients(rows, *tile, scores.take(*tile));
    add_product(sums.t_k, t.dk.value(), k.value());
    add_product(sums.p_k, t.dv.value(), k.value());
    add_products(sums.terms, t.dq, k);
    add_to_keys(rows, tile->columns, t);
    if (tick)
      tick();
  }
  return dq_of(model_, strip, forward, sums, rows.dq_chain);
}

ScoreGradients BackwardErrors::gradients(const Rows& rows, const Tile& tile,
                                         const Terms& scores) const {
  const StripView& strip = rows.strip;
  const Terms g = terms_in(room_.gradients, strip, tile), dq = terms_in(room_.others, strip, tile);
  multiply(strip.d_o, keys_.v.rows(tile.columns), g);
  BackwardFormula formula{formula_of(model_, strip, tile, scores)};
  formula.p = writable(scores.value());
  formula.dv_bound = writable(scores.bound());
  formula.dv_variance = writable(scores.variance());
  formula.g = writable(g.value());
  formula.g_size = writable(g.bound());
  formula.g_square = writable(g.variance());
  formula.p_g = writable(dq.value());
  formula.dq_bound = writable(dq.bound());
  formula.dq_variance = writable(dq.variance());
  formula.delta = elements(strip.delta);
  formula.keys = elements(strip.keys);
  formula.ds_step = model_.contract.ds_step(strip.scale);
  formula.delta_error = of_rows(rows.forward.delta);
  formula.lse_error = of_rows(rows.forward.lse);
  formula.dq_chain = of_rows(rows.dq_chain);
  formula.dk_chain = of_columns(dk_chain_, tile.columns);
  formula.dv_chain = of_columns(dv_chain_, tile.columns);
  evaluate(formula, strip.sum.numel(), scores.all.device());
  return {.dq = dq, .dk = g, .dv = scores};
}

void BackwardErrors::add_to_keys(const Rows& rows, Range columns, const ScoreGradients& t) {
  add_to_columns(t_q_, columns, t.dk.value(), rows.strip.q.value());
  add_to_columns(p_d_o_, columns, t.dv.value(), rows.strip.d_o.value());
  add_to_columns(dk_, columns, t.dk, rows.q);
  add_to_columns(dv_, columns, t.dv, rows.d_o);
  add_to_columns(p_delta_q_, columns, t.dv.value(), rows.q_sigma_delta);
  add_to_columns(p_g_q_, columns, t.dq.value(), rows.strip.q.value());
}

Gradient BackwardErrors::dk(double scale) const {
  KeyGradientFormula formula;
  formula.scale = std::abs(scale);
  formula.p_delta = elements(p_delta_q_);
  formula.p_g = elements(p_g_q_);
  return of_keys(formula, t_q_ * scale, dk_, dk_chain_);
}

Gradient BackwardErrors::dv() const { return of_keys({}, p_d_o_, dv_, dv_chain_); }

Gradient BackwardErrors::of_keys(KeyGradientFormula formula, const at::Tensor& value, const at::Tensor& sums,
                                 const Error& chain) const {
  const Error error{at::empty_like(value), at::empty_like(value)};
  const auto of_pairs = [&](const at::Tensor& of_each) {
    return of_each.expand({value.size(0), -1, -1}).contiguous();
  };
  const at::Tensor flushed = of_pairs(model_.flushed(keys_.queries)), variance = of_pairs(chain.variance);
  static_cast<RowFormula&>(formula) = formula_of(model_, value, sums, flushed, error);
  formula.partials = model_.key_partials * keys_.shared;
  formula.chain_variance = elements(variance);
  evaluate(formula, flushed.numel(), value.device());
  return {value, error};
}

}  // namespace ringcheck::reference
