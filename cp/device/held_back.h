// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <optional>

#include "cp/registry.h"

namespace ringcheck {

// By the kind of device: whether one is slower than it could be, as it is too hot or its supply of power fails; not
// because of the limit of power that a full load meets. Nothing where its driver does not say.
using HeldBack = Registry<std::function<std::optional<bool>(c10::Device)>>;

// The same; nothing of a device of which nobody can be asked.
std::optional<bool> held_back(c10::Device device);

}  // namespace ringcheck
