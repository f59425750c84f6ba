// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/score_errors.h"

#include <ATen/ATen.h>

#include <cmath>

namespace ringcheck::reference {

const Scores& ScoreErrors::operator()(const Tile& tile) {
  if (last_ != &tile)
    scores_ = evaluate(tile);
  last_ = &tile;
  return scores_;
}

Scores ScoreErrors::evaluate(const Tile& tile) const {
  const double u_a = model_.contract.u_a, c_e = model_.contract.c_e;
  const double unit = model_.unit_variance(), scale = strip_.scale;
  const Operand k = keys_.k.rows(tile.columns);

  const at::Tensor s = at::bmm(strip_.q.value, k.value.mT()).mul_(scale);
  const at::Tensor below = strip_.max - s;  // under the row's largest score
  const at::Tensor p = below.neg().exp_().div_(strip_.sum);
  hide(p, tile, 0);

  Error e = product_error(model_, model_.dim, s,
                          at::bmm(strip_.q.magnitude, k.magnitude.mT()).mul_(std::abs(scale)),
                          at::bmm(strip_.q.square, k.square.mT()).mul_(scale * scale));
  e.bound.add_(s.abs().add_(below), 2 * u_a).add_(c_e * u_a);
  e.variance.addcmul_(below, below, 2 * unit).add_(c_e * c_e * unit);
  return {p, p.square(), e};
}

}  // namespace ringcheck::reference
