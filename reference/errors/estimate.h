// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "reference/attention.h"
#include "reference/errors/error_model.h"
#include "reference/tiles/group.h"
#include "reference/solve.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {

// The truth of a group and its errors, in the shapes of a Solution; those of the gradients without
// the rounding of stored results. The gradients themselves come of the same pass as their errors.
struct Estimate {
  Tensors value, bound, variance;
};

Estimate estimate(const Solution& attended, const Group& group, const Tiles& tiles,
                  const ErrorModels& models, const std::function<void()>& tick);

// dK and dV alone, as they follow from an o and an lse of the implementation.
Estimate estimate_from(const at::Tensor& o, const at::Tensor& lse, const Group& group,
                       const Tiles& tiles, const ErrorModels& models,
                       const std::function<void()>& tick);

}  // namespace ringcheck::reference
