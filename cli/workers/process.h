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
  int code = 0;              // of exit
  int signal = 0;            // or 0
  std::string text() const;  // "exit code 3", "signal 9 (Killed)"
};

struct Command {
  std::vector<std::string> words;                  // the program's path first
  std::map<std::string, std::string> environment;  // added where it is not set
  std::string output;                              // file that takes stdout and stderr
};

// A child in a process group of its own, with no standard input, that dies with this process.
class Process {
 public:
  explicit Process(const Command& command);  // throws std::runtime_error
  ~Process();                                // ends the group and waits for the child
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  const std::optional<Ended>& poll();  // does not wait
  // Asks the child to end; a child that is not gone after a grace period is killed with its group.
  void end();

 private:
  pid_t pid_ = -1;
  std::optional<Ended> ended_;
};

// The first word of a program of that name in PATH.
std::optional<std::string> find_program(const std::string& name);
std::string own_path();
// "R", "S", "T" (stopped), "Z" (dead); empty where there is no such process.
std::string process_state(pid_t pid);
// Does a process run whose command line has this word in it?
bool runs_with(pid_t pid, const std::string& word);

}  // namespace ringcheck::cli
