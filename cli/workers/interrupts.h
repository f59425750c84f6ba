// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <map>
#include <string>

namespace ringcheck::cli {

// Thrown where work is given up for a signal: what was begun is taken away, and then the signal ends
// this process.
struct Interrupted {
  int signal;
};

// While it lives, SIGINT, SIGTERM and SIGHUP are noted instead of ending this process.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  static int noted();  // the last one, 0: none yet
  static std::string text(int signal);  // "Ctrl-C", "Terminated"
  static void check();  // throws Interrupted where one was noted

 private:
  std::map<int, struct sigaction> old_;
};

}  // namespace ringcheck::cli
