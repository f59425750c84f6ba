// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/tiles/strip_view.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {

// The products of the queries and keys of one strip, tile by tile: scores, sums of |terms| and of their
// squares. Formulas (1) and (2) of docs/numerics.md follow from them, for each pass with its own arithmetic.
class Scores {
 public:
  Scores(const StripView& strip, const Keys& keys, const Room& room)
      : strip_(strip), keys_(keys), memory_(room.scores) {}

  // To be read. Those of the tile that was asked for last are there already.
  Terms of(const Tile& tile);

  // To be overwritten.
  Terms take(const Tile& tile);

 private:
  const StripView& strip_;
  const Keys& keys_;
  const at::Tensor& memory_;
  const Tile* last_ = nullptr;  // whose products are in the memory
};

}  // namespace ringcheck::reference
