// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <tuple>

#include "reference/tiles/row_formulas.h"
#include "reference/tiles/tile_formulas.h"

namespace ringcheck::reference {

// Calls the formula for every element of `rows` rows, on the device of its arrays; on a GPU behind what
// its current stream holds. Throws std::logic_error on a device for which nothing is registered.
template <class Formula>
void evaluate(const Formula& formula, int64_t rows, at::Device device);

template <class Formula>
using Evaluate = void (*)(const Formula&, int64_t rows, at::Device);

// How a device that is no CPU evaluates them, each formula that there is. What links CUDA is in a library
// of its own, which registers its evaluation when it is loaded.
using Evaluation = std::tuple<Evaluate<ForwardFormula>, Evaluate<BackwardFormula>, Evaluate<OutputFormula>,
                              Evaluate<QueryGradientFormula>, Evaluate<KeyGradientFormula>,
                              Evaluate<StoredFormula>>;
struct RegisteredEvaluation {
  explicit RegisteredEvaluation(const Evaluation& evaluation);
};

}  // namespace ringcheck::reference
