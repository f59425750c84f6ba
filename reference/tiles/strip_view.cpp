// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles/strip_view.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringcheck::reference {

Operand Operand::of(const at::Tensor& x) {
  const Operand operand{at::empty({3, x.size(0), x.size(1), x.size(2)}, x.options())};
  at::Tensor magnitude = operand.magnitude(), square = operand.square();
  operand.value().copy_(x);
  at::abs_out(magnitude, operand.value());
  at::mul_out(square, operand.value(), operand.value());
  return operand;
}

Operand Operand::rows(Range range) const { return {all.narrow(2, range.begin, range.size)}; }

Operand Operand::with_value(const at::Tensor& x) const {
  return {at::stack({x, magnitude(), square()})};
}

Room Room::for_largest(const Tiles& tiles, const Group& group) {
  int64_t largest = 0;
  for (const Strip& strip : tiles.strips)
    for (const Tile& tile : strip.tiles)
      largest = std::max(largest, tile.rows.size * tile.columns.size);
  const auto memory = [&] {
    return at::empty({3 * group.q.size(0) * group.q.size(1) * largest}, group.q.options());
  };
  return {memory(), memory(), memory()};
}

Keys keys_of(const Group& group, const Tiles& tiles) {
  return {.k = Operand::of(group.k),
          .v = Operand::of(group.v),
          .v_and_square = at::cat({group.v, group.v.square()}, -1),
          .shared = static_cast<double>(group.q.size(1)),
          .queries = (tiles.queries * group.q.size(1)).view({1, -1, 1})};
}

at::Tensor largest_seen(const Keys& keys, const Tiles& tiles) {
  at::Tensor largest_of_run = keys.v.magnitude();  // of `length` keys from each key on
  const at::Tensor begin = tiles.begin.to(at::kLong), end = tiles.end.to(at::kLong);
  const int64_t longest = (end - begin).max().item<int64_t>();
  at::Tensor largest = at::zeros({largest_of_run.size(0), begin.numel(), largest_of_run.size(2)},
                                 largest_of_run.options());
  for (int64_t length = 1; length <= longest; length *= 2) {
    // Two runs of half the keys or more cover all of them.
    const at::Tensor queries = (end - begin).div(length, "floor").eq(1).nonzero().squeeze(1);
    const auto from = [&](const at::Tensor& key) {
      return largest_of_run.index_select(1, key.index_select(0, queries));
    };
    largest.index_copy_(1, queries, at::maximum(from(begin), from(end - length)));
    const int64_t left = largest_of_run.size(1) - length;
    if (left > 0)
      largest_of_run = at::maximum(largest_of_run.narrow(1, 0, left),
                                   largest_of_run.narrow(1, length, left));
  }
  return largest;
}

StripView view_of(const Strip& strip, const Group& group, const Solution& attended,
                  const Tiles& tiles) {
  const auto rows = [&](const at::Tensor& x) { return stacked(x, strip.rows).contiguous(); };
  const auto runs = [&](const at::Tensor& edge) {
    return edge.narrow(0, strip.rows.begin, strip.rows.size);
  };
  const at::Tensor sum = rows(attended.sum);
  const at::Tensor blind = sum == 0;
  return {.strip = strip,
          .scale = group.scale,
          .begin = runs(tiles.begin),
          .end = runs(tiles.end),
          .q = Operand::of(stacked(group.q, strip.rows)),
          .scaled_q = Operand::of(stacked(group.q, strip.rows) * group.scale),
          .d_o = Operand::of(stacked(group.d_o, strip.rows)),
          .o = rows(attended.o),
          .max = rows(attended.max),
          .sum = sum.masked_fill(blind, 1),
          .lse = rows(attended.lse).masked_fill(blind, 0),
          .delta = rows(attended.delta),
          .keys = rows(tiles.keys.expand_as(attended.sum)),
          .largest_v = {}};
}

ScoreFormula formula_of(const ErrorModel& model, const StripView& strip, const Tile& tile,
                        const Terms& scores) {
  ScoreFormula formula{{.contract = model.contract,
                        .dim = model.dim,
                        .dim_v = model.dim_v,
                        .columns = tile.columns.size,
                        .first_column = tile.columns.begin,
                        .strip_rows = tile.rows.size,
                        .begin = strip.begin.const_data_ptr<int32_t>(),
                        .end = strip.end.const_data_ptr<int32_t>()}};
  formula.s = elements(scores.value());
  formula.magnitude = elements(scores.bound());
  formula.square = elements(scores.variance());
  formula.max = elements(strip.max);
  formula.sum = elements(strip.sum);
  return formula;
}

RowFormula formula_of(const ErrorModel& model, const at::Tensor& value, const at::Tensor& sums,
                      const at::Tensor& flushed, const Error& error) {
  return {.contract = model.contract,
          .step = model.partial_step(),
          .columns = value.size(-1),
          .value = elements(value),
          .of_value = elements(sums[0]),
          .of_size = elements(sums[1]),
          .of_square = elements(sums[2]),
          .flushed = elements(flushed),
          .bound = writable(error.bound),
          .variance = writable(error.variance)};
}

const double* elements(const at::Tensor& x) {
  TORCH_INTERNAL_ASSERT(x.is_contiguous());
  return x.const_data_ptr<double>();
}

double* writable(const at::Tensor& x) {
  TORCH_INTERNAL_ASSERT(x.is_contiguous());
  return x.mutable_data_ptr<double>();
}

Terms terms_in(const at::Tensor& memory, const StripView& strip, const Tile& tile) {
  const int64_t pairs = strip.sum.size(0), rows = strip.sum.size(1), columns = tile.columns.size;
  return {memory.narrow(0, 0, 3 * pairs * rows * columns).view({3, pairs, rows, columns})};
}

at::Tensor batched(const at::Tensor& x) { return x.view({-1, x.size(-2), x.size(-1)}); }

void multiply(const Operand& a, const Operand& b, const Terms& product) {
  at::Tensor out = batched(product.all);
  at::bmm_out(out, batched(a.all), batched(b.all).mT());
}

void add_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  sum = sum.defined() ? sum.baddbmm_(a, b) : at::bmm(a, b);
}

void add_products(at::Tensor& sums, const Terms& a, const Operand& b) {
  at::Tensor sum = sums.defined() ? batched(sums) : at::Tensor();
  add_product(sum, batched(a.all), batched(b.all));
  sums = sum.view({3, b.all.size(1), a.all.size(2), b.all.size(3)});
}

}  // namespace ringcheck::reference
