// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/stacks.h"

#include <signal.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <mutex>
#include <thread>

namespace ringcheck::parity {
namespace {

volatile std::sig_atomic_t asked = 0;
constexpr std::chrono::milliseconds kToWrite{50};  // a process its stack, before the next one

}  // namespace

void show_stacks_on_signal() {
  struct sigaction action{};
  action.sa_handler = [](int) { asked = 1; };
  ::sigaction(SIGUSR2, &action, nullptr);
}

void StackReader::show_where_asked() {
  if (asked == 0 || shown_) return;
  shown_ = true;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::cerr << "rank " << rank_ << ", Python:" << std::endl;
  ::kill(process_, SIGUSR2);
  std::this_thread::sleep_for(kToWrite);
}

}  // namespace ringcheck::parity
