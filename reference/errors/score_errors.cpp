// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/score_errors.h"

#include <ATen/ATen.h>

#include "reference/errors/evaluate.h"

namespace ringcheck::reference {

ScoreFormula ScoreErrors::start(const Tile& tile) {
  const Terms scores = terms_in(memory_, strip_, tile);
  multiply(strip_.scaled_q, keys_.k.rows(tile.columns), scores);
  last_ = &tile;
  ScoreFormula formula{formula_of(model_, strip_, tile)};
  formula.s = writable(scores.value());
  formula.magnitude = writable(scores.bound());
  formula.square = writable(scores.variance());
  formula.max = elements(strip_.max);
  formula.sum = elements(strip_.sum);
  return formula;
}

Terms ScoreErrors::take(const Tile& tile) {
  if (last_ != &tile)
    evaluate(start(tile), strip_.max.numel(), memory_.device());
  last_ = nullptr;
  return terms_in(memory_, strip_, tile);
}

}  // namespace ringcheck::reference
