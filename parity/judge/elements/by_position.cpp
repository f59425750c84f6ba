// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/elements/by_position.h"

#include <stdexcept>

namespace ringcheck::parity {
namespace {

ByPosition& registered() {
  static ByPosition by_position = nullptr;
  return by_position;
}

std::vector<PositionTally> on_cpu(const Elements& elements) {
  std::vector<PositionTally> slots(elements.slots);
  for (int64_t row = 0; row < elements.rows; ++row)
    for (int64_t slot = 0; slot < elements.slots; ++slot) {
      PositionTally sum = slots[slot];
      for (int64_t channel = 0; channel < elements.channels; ++channel)
        sum.add(elements, elements.flat(row, slot, channel));
      slots[slot] = sum;
    }
  return slots;
}

}  // namespace

std::vector<PositionTally> by_position(const Elements& elements, at::Device device) {
  if (device.is_cpu()) return on_cpu(elements);
  if (registered() == nullptr)
    throw std::logic_error("nothing compares elements on " + device.str());
  return registered()(elements, device);
}

RegisteredByPosition::RegisteredByPosition(ByPosition by_position) { registered() = by_position; }

}  // namespace ringcheck::parity
