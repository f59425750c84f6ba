// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/process/folder.h"
#include "cli/process/process.h"

namespace ringcheck::testing {

using Folder = cli::TemporaryFolder;

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

// What a program that has ended left behind.
struct Ran {
  int code = 0;  // 128 + signal where a signal ended it
  std::string out, err;
};

// A process that runs.
struct Found {
  pid_t pid;
  std::string name, command, environment;  // the last two are words that end with '\n'
};
// Those whose command line holds this.
std::vector<Found> processes_with(const std::string& text);

// A program that runs, with TMPDIR in a folder of its own; killed with its group at the end.
class Running {
 public:
  explicit Running(std::vector<std::string> words,
                   std::map<std::string, std::string> environment = {});

  pid_t pid() const { return process_.pid(); }
  void signal(int number) const;
  Ran wait();  // fails the test after four minutes
  // The processes below it, or left over from it, whose command line names its folder.
  std::vector<Found> workers() const { return processes_with(folder_.path()); }

 private:
  Folder folder_;
  cli::Process process_;
};

// Waits until `what` holds; false after `seconds`.
bool wait_until(double seconds, const std::function<bool()>& what);

// Is it well-formed, as the XML parser of Python's standard library sees it?
bool is_xml(const std::string& file);

std::string ringcheck_program();
// Runs `ringcheck` with these words.
Ran ringcheck(const std::vector<std::string>& words,
              const std::map<std::string, std::string>& environment = {});

}  // namespace ringcheck::testing
