// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/sharing/at_once.h"

#include <exception>
#include <mutex>
#include <thread>

namespace ringcheck::cli {

void at_once(const std::vector<std::function<void()>>& players, std::atomic<bool>& stopping) {
  std::exception_ptr failure;
  std::mutex failing;
  {
    std::vector<std::jthread> threads;
    for (const auto& player : players)
      threads.emplace_back([&] {
        try {
          player();
        } catch (...) {
          const std::lock_guard lock(failing);
          if (!failure) failure = std::current_exception();
          stopping = true;
        }
      });
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ringcheck::cli
