// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/scores.h"

#include <utility>

namespace ringcheck::reference {

Terms Scores::of(const Tile& tile) {
  Terms scores = terms_in(memory_, strip_, tile);
  if (std::exchange(last_, &tile) != &tile)
    multiply(strip_.scaled_q, keys_.k.rows(tile.columns), scores);
  return scores;
}

Terms Scores::take(const Tile& tile) {
  Terms scores = of(tile);
  last_ = nullptr;
  return scores;
}

}  // namespace ringcheck::reference
