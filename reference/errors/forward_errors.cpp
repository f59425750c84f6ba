// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/forward_errors.h"

#include <ATen/ATen.h>

#include <tuple>

#include "reference/errors/evaluate.h"

namespace ringcheck::reference {
namespace {

// The relative error of a whole row: that of its normaliser, of the chain of additions and of the
// merges. It multiplies |P v| in the bound, and P^2 v^2, O^2 and delta^2 in the variance.
struct RowError {
  at::Tensor bound;       // [pairs, rows, 1]
  at::Tensor variance;    // [pairs, rows, 1]
  at::Tensor of_partial;  // [pairs, rows, 1], the variance with the rounding of partial results
};

RowError row_error(const ErrorModel& model, const StripView& strip) {
  const auto& [u_a, u_m, c_e] =
      std::tie(model.contract.u_a, model.contract.u_m, model.contract.c_e);
  const double W = model.partials, partial = model.partial_rounding();
  const at::Tensor bound = strip.keys * u_a + 4 * W * u_a * (1 + strip.lse.abs()) + u_m;
  const at::Tensor variance =
      model.unit_variance() *
          (model.effective(strip.keys) / 2 + 4 + W * (c_e * c_e + 4 + 4 * strip.lse.square())) +
      model.lost(strip.keys);
  return {bound, variance, variance + partial * partial / 3};
}

// Sums over the keys of a row, with w = P B^E, z = (P sigma^E)^2, and r the rounding of P.
struct KeySums {
  at::Tensor w, z;   // [pairs, rows, 1]
  at::Tensor absorbed;  // [pairs, rows, 1]: of P below u_a, which a sum that is nearly there does not see
  at::Tensor w_v;    // [pairs, rows, 2 dim_v]: of w v and w v^2
  at::Tensor terms;  // [3, pairs, rows, dim_v]: of z v, (r + P (u_in + row bound)) |v|,
                     // (z + r^2 / 3 + P^2 (u_in^2 / 3 + row variance)) v^2
};

KeySums sums_over_keys(const ErrorModel& model, const StripView& strip, const Keys& keys,
                       Scores& scores, const Room& room, const RowError& row) {
  KeySums sums;
  for (at::Tensor* sum : {&sums.w, &sums.z, &sums.absorbed}) *sum = at::zeros_like(strip.sum);
  for (const Tile& tile : strip.strip.tiles) {
    const at::Tensor w = terms_in(room.gradients, strip, tile).value();
    const Terms terms = terms_in(room.others, strip, tile);
    ForwardFormula formula{formula_of(model, strip, tile, scores.of(tile))};
    formula.row_bound = elements(row.bound);
    formula.row_variance = elements(row.of_partial);
    formula.w = writable(w);
    formula.z = writable(terms.value());
    formula.bound = writable(terms.bound());
    formula.variance = writable(terms.variance());
    formula.w_of_row = writable(sums.w);
    formula.z_of_row = writable(sums.z);
    formula.absorbed_of_row = writable(sums.absorbed);
    evaluate(formula, strip.sum.numel(), w.device());
    const Range columns = tile.columns;
    add_product(sums.w_v, w, keys.v_and_square.narrow(1, columns.begin, columns.size));
    add_products(sums.terms, terms, keys.v.rows(columns));
  }
  return sums;
}

// Where scores are alike, an approximate exp errs alike for all of them: c_e once more, coherently.
Error lse_error(const ErrorModel& model, const StripView& strip, const KeySums& sums) {
  const double u_a = model.contract.u_a, c_e = model.contract.c_e, W = model.partials;
  const at::Tensor size = 1 + strip.lse.abs() + strip.max.abs();
  const at::Tensor size2 = 1 + strip.lse.square() + strip.max.square();
  return {
      sums.w + strip.keys * u_a + 4 * (1 + W) * u_a * size,
      sums.z + sums.absorbed.square() +
          model.unit_variance() * (model.effective(strip.keys) / 3 + 2 + 3 * (1 + W) * size2 + c_e * c_e)};
}

Error output_error(const ErrorModel& model, const StripView& strip, const KeySums& sums,
                   const RowError& row) {
  const Error error{at::empty_like(strip.o), at::empty_like(strip.o)};
  const at::Tensor flushed = model.flushed(strip.keys);
  OutputFormula formula{formula_of(model, strip.o, sums.terms, flushed, error)};
  formula.w_v = elements(sums.w_v);
  if (strip.largest_v.defined()) formula.largest_v = elements(strip.largest_v);
  formula.w = elements(sums.w);
  formula.z = elements(sums.z);
  formula.row_variance = elements(row.of_partial);
  evaluate(formula, strip.sum.numel(), strip.o.device());
  return error;
}

Error delta_error(const ErrorModel& model, const StripView& strip, const Error& o,
                  const RowError& row) {
  const double unit = model.unit_variance(), d = model.dim_v;
  const at::Tensor term = strip.d_o.value() * strip.o;
  return {(strip.d_o.magnitude() * o.bound).add_(term.abs(), d * model.contract.u_a).sum(-1, true),
          (strip.d_o.square() * o.variance).addcmul_(term, term, unit * (d / 2 + 2)).sum(-1, true) +
              strip.delta.square() * (row.variance + unit * d / 3)};
}

}  // namespace

ForwardErrors forward_errors(const ErrorModel& model, const StripView& strip, const Keys& keys,
                             Scores& scores, const Room& room) {
  RowError row = row_error(model, strip);
  const KeySums sums = sums_over_keys(model, strip, keys, scores, room, row);
  for (at::Tensor* variance : {&row.variance, &row.of_partial}) *variance = *variance + sums.absorbed.square();
  const Error o = output_error(model, strip, sums, row);
  return {lse_error(model, strip, sums), o, delta_error(model, strip, o, row)};
}

ForwardErrors errors_of_given(const ErrorModel& model, const StripView& strip) {
  const at::Tensor none = at::zeros_like(strip.sum);
  KeySums sums;
  sums.w = sums.z = sums.absorbed = none;
  const at::Tensor rounding = model.output_rounding(strip.o);
  const Error o{rounding, rounding.square() / 3};
  return {lse_error(model, strip, sums), o, delta_error(model, strip, o, {none, none, none})};
}

}  // namespace ringcheck::reference
