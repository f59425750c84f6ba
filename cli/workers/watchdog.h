// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cp/operation.h"

namespace ringcheck::cli {

// Ends a rank that falls silent. A rank that a launcher started has no supervisor, and its own waits
// end at their deadlines, but not a subject that computes for ever; the launcher then ends the other
// ranks. On stderr stand the rank, the case, and the operation that it was in.
class Watchdog {
 public:
  // Ends the process with this exit code, behind the last words, which are told why.
  using LastWords = std::function<void(const std::string& why)>;
  Watchdog(int rank, int exit_code, LastWords last_words);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // From now on, until the next sign, at most so much time passes, or the rank is dead.
  void watch(const std::string& test, std::chrono::milliseconds allowed);
  // Of life, from any thread. Nothing where nobody watches.
  void sign(const Operation& operation);
  void rest();

 private:
  void run(std::stop_token stop);
  [[noreturn]] void bite() const;

  const int rank_, exit_code_;
  const LastWords last_words_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string test_;
  Operation operation_;
  std::chrono::milliseconds allowed_{};
  std::optional<std::chrono::steady_clock::time_point> end_;  // nothing: it rests
  std::jthread thread_;
};

}  // namespace ringcheck::cli
