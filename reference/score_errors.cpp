// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/score_errors.h"

#include <ATen/ATen.h>

#include "reference/evaluate.h"

namespace ringcheck::reference {

const Scores& ScoreErrors::operator()(const Tile& tile) {
  if (last_ != &tile)
    scores_ = evaluate(tile);
  last_ = &tile;
  return scores_;
}

Scores ScoreErrors::evaluate(const Tile& tile) const {
  const Operand &q = strip_.scaled_q, k = keys_.k.rows(tile.columns);
  const Scores scores{at::bmm(q.value, k.value.mT()),
                      {at::bmm(q.magnitude, k.magnitude.mT()), at::bmm(q.square, k.square.mT())}};
  ScoreFormula formula{formula_of(model_, strip_, tile)};
  formula.s = writable(scores.p);
  formula.magnitude = writable(scores.exponential.bound);
  formula.square = writable(scores.exponential.variance);
  formula.max = elements(strip_.max);
  formula.sum = elements(strip_.sum);
  reference::evaluate(formula, strip_.max.numel(), scores.p.device());
  return scores;
}

}  // namespace ringcheck::reference
