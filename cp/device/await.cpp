// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/await.h"

#include <string>
#include <thread>

#include "cp/error.h"

namespace ringcheck {

void await(const Moment& moment, std::chrono::milliseconds deadline,
           const std::function<void()>& meanwhile) {
  const auto limit = std::chrono::steady_clock::now() + deadline;
  for (; !moment.passed(); std::this_thread::sleep_for(std::chrono::microseconds(20))) {
    meanwhile();
    if (std::chrono::steady_clock::now() > limit)
      throw Timeout("the device did not finish within " + std::to_string(deadline.count()) + " ms");
  }
}

}  // namespace ringcheck
