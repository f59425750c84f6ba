// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/await.h"

#include <atomic>
#include <string>
#include <thread>

#include "cp/error.h"

namespace ringcheck {
namespace {

using std::chrono::microseconds, std::chrono::milliseconds;

std::atomic<bool> sleeps{false};

}  // namespace

milliseconds awake() { return milliseconds(sleeps ? 0 : 5); }

void sleep_while_waiting() { sleeps = true; }

void rest(std::chrono::nanoseconds waited) {
  if (waited < awake()) std::this_thread::yield();
  else std::this_thread::sleep_for(microseconds(sleeps ? 100 : 20));  // looking costs a core, too
}

void await(const Moment& moment, milliseconds deadline,
           const std::function<void()>& meanwhile) {
  const auto begin = std::chrono::steady_clock::now();
  while (!moment.passed()) {
    meanwhile();
    const auto waited = std::chrono::steady_clock::now() - begin;
    rest(waited);
    if (waited > deadline)
      throw Timeout("the device did not finish within " + std::to_string(deadline.count()) + " ms");
  }
}

}  // namespace ringcheck
