// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/strip_view.h"

#include <ATen/ATen.h>

namespace ringcheck::reference {

Operand Operand::of(const at::Tensor& x) { return {x, x.abs(), x.square()}; }

Operand Operand::rows(Range range) const {
  const auto part = [&](const at::Tensor& x) { return x.narrow(1, range.begin, range.size); };
  return {part(value), part(magnitude), part(square)};
}

Keys keys_of(const Group& group, const Tiles& tiles) {
  return {.k = Operand::of(group.k),
          .v = Operand::of(group.v),
          .shared = static_cast<double>(group.q.size(1)),
          .queries = (tiles.queries * group.q.size(1)).view({1, -1, 1})};
}

StripView view_of(const Strip& strip, const Group& group, const Solution& solution,
                  const Tiles& tiles) {
  const auto rows = [&](const at::Tensor& x) { return stacked(x, strip.rows); };
  const at::Tensor sum = rows(solution.sum);
  const at::Tensor blind = sum == 0;
  return {.strip = strip,
          .scale = group.scale,
          .q = Operand::of(rows(group.q)),
          .d_o = Operand::of(rows(group.d_o)),
          .o = rows(solution.o),
          .dq = rows(solution.dq),
          .max = rows(solution.max),
          .sum = sum.masked_fill(blind, 1),
          .lse = rows(solution.lse).masked_fill(blind, 0),
          .delta = rows(solution.delta),
          .keys = rows(tiles.keys.expand_as(solution.sum))};
}

void add_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  sum = sum.defined() ? sum.baddbmm_(a, b) : at::bmm(a, b);
}

}  // namespace ringcheck::reference
