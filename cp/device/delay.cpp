// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/delay.h"

#include <memory>
#include <random>
#include <thread>

namespace ringcheck {

void linger(at::Device device, std::chrono::microseconds time) {
  if (device.is_cpu()) std::this_thread::sleep_for(time);
  else GpuDelays::at("spin").spin(time);
}

std::function<void()> random_delay(at::Device device, uint64_t seed,
                                   std::chrono::microseconds most) {
  const auto draw = std::make_shared<std::mt19937_64>(seed);
  return [=] {
    std::uniform_int_distribution<int64_t> length(0, most.count());
    linger(device, std::chrono::microseconds(length(*draw)));
  };
}

}  // namespace ringcheck
