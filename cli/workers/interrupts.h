// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <map>

namespace ringcheck::cli {

// While it lives, SIGINT, SIGTERM and SIGHUP are noted instead of ending this process.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  static int noted();  // the last one, 0: none yet

 private:
  std::map<int, struct sigaction> old_;
};

}  // namespace ringcheck::cli
