// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ringcheck::cli {

// How a process ended.
struct Ended {
  int code = 0;              // of exit; 127: the program could not be run
  int signal = 0;            // or 0
  bool well() const { return code == 0 && signal == 0; }
  std::string text() const;  // "exit code 3", "signal 9 (Killed)"
};

struct Command {
  std::vector<std::string> words;                  // the program's path first
  std::map<std::string, std::string> environment;  // beside what this process has, or instead
  std::string output;                              // file to which stdout is added
  std::string errors = {};                         // file for stderr; empty: as output
};

// A child in a process group of its own, with no standard input. It dies with the thread that
// started it, and the rest of its group with it. Nothing here waits without a deadline: a process that
// not even SIGKILL ends, because it waits inside a dead driver, is left behind.
class Process {
 public:
  explicit Process(const Command& command);  // throws std::runtime_error
  ~Process();                                // kills the group of a child that was not seen to end
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  const std::optional<Ended>& poll();  // does not wait
  // Waits until the child has ended; false after `seconds`.
  bool wait(double seconds);
  // Asks the child to end; a child that is not gone after a grace period is killed with its group.
  void end();

 private:
  pid_t pid_ = -1;
  std::optional<Ended> ended_;
};

}  // namespace ringcheck::cli
