// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "cp/device/moment.h"

namespace ringcheck {

// Polls until the moment has passed. Throws Timeout at the deadline, and whatever `meanwhile`
// throws, which is called between two looks.
void await(const Moment& moment, std::chrono::milliseconds deadline,
           const std::function<void()>& meanwhile = [] {});

}  // namespace ringcheck
