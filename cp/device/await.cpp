// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/await.h"

#include <string>
#include <thread>

#include "cp/error.h"

namespace ringcheck {
namespace {

constexpr std::chrono::milliseconds kAwake{5};

}  // namespace

void await(const Moment& moment, std::chrono::milliseconds deadline,
           const std::function<void()>& meanwhile) {
  const auto begin = std::chrono::steady_clock::now();
  while (!moment.passed()) {
    meanwhile();
    const auto waited = std::chrono::steady_clock::now() - begin;
    // Being woken takes some 0.07 ms, which a short pass would feel.
    if (waited < kAwake) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (waited > deadline)
      throw Timeout("the device did not finish within " + std::to_string(deadline.count()) + " ms");
  }
}

}  // namespace ringcheck
