// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/error_model.h"
#include "reference/strip_view.h"
#include "reference/tiles.h"

namespace ringcheck::reference {

// The probabilities of a tile and the relative error of e^(s - max).
struct Scores {
  at::Tensor p;       // [pairs, rows, columns], 0 where invisible
  Error exponential;  // [pairs, rows, columns]
};

// Formulas (1) and (2) for the tiles of one strip. The last tile asked for is remembered.
class ScoreErrors {
 public:
  ScoreErrors(const ErrorModel& model, const StripView& strip, const Keys& keys)
      : model_(model), strip_(strip), keys_(keys) {}

  const Scores& operator()(const Tile& tile);

 private:
  Scores evaluate(const Tile& tile) const;

  const ErrorModel& model_;
  const StripView& strip_;
  const Keys& keys_;
  const Tile* last_ = nullptr;
  Scores scores_;
};

}  // namespace ringcheck::reference
