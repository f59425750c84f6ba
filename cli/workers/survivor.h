// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>

namespace ringcheck::cli {

// A child that waits for the end of this process, whatever ends it, and then does `last`. It is in a
// session of its own and deaf to SIGINT, SIGTERM and SIGHUP: what ends this process does not end it,
// unless every process is killed. Made before there are threads or devices.
class Survivor {
 public:
  explicit Survivor(const std::function<void()>& last);  // throws std::runtime_error
  ~Survivor() { dismiss(); }
  Survivor(const Survivor&) = delete;
  Survivor& operator=(const Survivor&) = delete;

  // It does it now, and has done it when this returns. For signal handlers, too.
  void act();
  // It is not needed any more.
  void dismiss();

 private:
  pid_t child_ = -1;
  std::atomic<int> line_ = -1;  // that it listens at; -1: it has been told
};

}  // namespace ringcheck::cli
