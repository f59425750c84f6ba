// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <cstdint>
#include <functional>

#include "cp/registry.h"

namespace ringcheck {

// Keeps the current stream of the device busy for this long. On the CPU, where work is done when
// its call returns, the calling thread sleeps.
void linger(at::Device device, std::chrono::microseconds time);

// A delay of another length, from none to `most`, at each call. Given to
// Communicator::delay_with() it shifts computation and messages against each other, and a result
// that changes was not ordered by what it waits for.
std::function<void()> random_delay(at::Device device, uint64_t seed,
                                   std::chrono::microseconds most);

// What libringcheck_cuda.so brings: keeps the current stream of the current GPU busy.
struct GpuDelay {
  std::function<void(std::chrono::microseconds)> spin;
};
using GpuDelays = Registry<GpuDelay>;

}  // namespace ringcheck
