// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace ringcheck::parity {

// From now on SIGUSR2 asks for the Python stack of every rank that waits for its process.
void show_stacks_on_signal();

// Has the process of a rank write its stack to standard error, once where it was asked for.
class StackReader {
 public:
  StackReader(int rank, pid_t process) : rank_(rank), process_(process) {}
  void show_where_asked();

 private:
  int rank_;
  pid_t process_;
  bool shown_ = false;
};

}  // namespace ringcheck::parity
