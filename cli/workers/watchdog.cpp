// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/watchdog.h"

#include <c10/util/StringUtil.h>

#include <cstdlib>
#include <iostream>
#include <utility>

namespace ringcheck::cli {

Watchdog::Watchdog(int rank, int exit_code, LastWords last_words)
    : rank_(rank),
      exit_code_(exit_code),
      last_words_(std::move(last_words)),
      thread_([this](std::stop_token stop) { run(stop); }) {}

void Watchdog::watch(const std::string& test, std::chrono::milliseconds allowed) {
  const std::lock_guard lock(mutex_);
  test_ = test;
  operation_ = {};
  allowed_ = allowed;
  end_ = std::chrono::steady_clock::now() + allowed;
  changed_.notify_one();
}

// The thread need not wake up for it: it finds the later end when it does.
void Watchdog::sign(const Operation& operation) {
  const std::lock_guard lock(mutex_);
  if (!end_) return;
  operation_ = operation;
  end_ = std::chrono::steady_clock::now() + allowed_;
}

void Watchdog::rest() {
  const std::lock_guard lock(mutex_);
  end_.reset();
}

void Watchdog::run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait(lock, stop, [this] { return end_.has_value(); });
    if (!end_) continue;
    const auto end = *end_;  // signs move it while this waits
    if (std::chrono::steady_clock::now() >= end) bite();
    changed_.wait_until(lock, stop, end, [] { return false; });
  }
}

// Without destructors: they would wait for whatever does not end.
void Watchdog::bite() const {
  const std::string why = c10::str("no sign of life for ", static_cast<double>(allowed_.count()) / 1000,
                                   " s after \"", describe(operation_), "\"");
  std::cerr << c10::str("ringcheck: rank ", rank_, ": hang: ", why, ", in ", test_, "\n")
            << std::flush;
  last_words_(why);
  std::_Exit(exit_code_);
}

}  // namespace ringcheck::cli
