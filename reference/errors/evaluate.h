// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "reference/tiles/row_formulas.h"
#include "reference/tiles/tile_formulas.h"

namespace ringcheck::reference {

// Calls the formula for every element of `rows` rows, on the device of its arrays; on a GPU behind what
// its current stream holds. Throws std::logic_error on a device for which nothing
// is registered.
void evaluate(const ScoreFormula& formula, int64_t rows, at::Device device);
void evaluate(const ForwardFormula& formula, int64_t rows, at::Device device);
void evaluate(const BackwardFormula& formula, int64_t rows, at::Device device);
void evaluate(const OutputFormula& formula, int64_t rows, at::Device device);
void evaluate(const QueryGradientFormula& formula, int64_t rows, at::Device device);
void evaluate(const KeyGradientFormula& formula, int64_t rows, at::Device device);
void evaluate(const StoredFormula& formula, int64_t rows, at::Device device);

// How a device that is no CPU evaluates them. What links CUDA is in a library of its own, which
// registers its evaluation when it is loaded.
struct Evaluation {
  void (*scores)(const ScoreFormula&, int64_t rows, at::Device);
  void (*forward)(const ForwardFormula&, int64_t rows, at::Device);
  void (*backward)(const BackwardFormula&, int64_t rows, at::Device);
  void (*output)(const OutputFormula&, int64_t rows, at::Device);
  void (*query_gradient)(const QueryGradientFormula&, int64_t rows, at::Device);
  void (*key_gradient)(const KeyGradientFormula&, int64_t rows, at::Device);
  void (*stored)(const StoredFormula&, int64_t rows, at::Device);
};
struct RegisteredEvaluation {
  explicit RegisteredEvaluation(const Evaluation& evaluation);
};

}  // namespace ringcheck::reference
