// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/errors/error_model.h"
#include "reference/tiles/strip_view.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {

// Formulas (1) and (2) of docs/numerics.md for the tiles of one strip: the error of a score, and of
// the exponential that the softmax takes of it (Blanchard, Higham and Higham 2021).
class ScoreErrors {
 public:
  ScoreErrors(const ErrorModel& model, const StripView& strip, const Keys& keys, const Room& room)
      : model_(model), strip_(strip), keys_(keys), memory_(room.scores) {}

  // Starts a tile: the products are there, and the formula is what the caller evaluates next.
  ScoreFormula start(const Tile& tile);

  // P and the relative error of e^(s - max). The tile that was started last is not started again,
  // but once: the caller may overwrite its terms.
  Terms take(const Tile& tile);

 private:
  const ErrorModel& model_;
  const StripView& strip_;
  const Keys& keys_;
  const at::Tensor& memory_;
  const Tile* last_ = nullptr;
};

}  // namespace ringcheck::reference
