// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <vector>

#include "parity/judge/elements/position_tally.h"

namespace ringcheck::parity {

// One a slot, always added up in the same order; on a GPU behind what its current stream holds.
// Throws std::logic_error on a device for which nothing is registered.
std::vector<PositionTally> by_position(const Elements& elements, at::Device device);

// How a device that is no CPU does it. What links CUDA is in a library of its own, which registers it
// when it is loaded.
using ByPosition = std::vector<PositionTally> (*)(const Elements&, at::Device);
struct RegisteredByPosition {
  explicit RegisteredByPosition(ByPosition by_position);
};

}  // namespace ringcheck::parity
