// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/held_back.h"

namespace ringcheck {

// Here, and not in the header: a program that looked into the registry itself would have one of its own, as a library
// that it loads later does not see its symbols.
std::optional<bool> held_back(c10::Device device) {
  const auto found = HeldBack::all().find(c10::DeviceTypeName(device.type(), true));
  return found == HeldBack::all().end() ? std::nullopt : found->second(device);
}

}  // namespace ringcheck
