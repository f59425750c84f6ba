// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ringcheck::testing {

// A new folder, removed with what it holds.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

// What a program that has ended left behind.
struct Ran {
  int code = 0;  // 128 + signal where a signal ended it
  std::string out, err;
};

// A program that runs, with TMPDIR in a folder of its own.
class Running {
 public:
  explicit Running(std::vector<std::string> words,
                   const std::map<std::string, std::string>& environment = {});
  ~Running();  // kills it
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  Ran wait();  // fails the test after four minutes
  // The processes below it, or left over from it, whose command line and environment satisfy.
  struct Found {
    pid_t pid;
    std::string command, environment;  // words end with '\n'
  };
  std::vector<Found> workers() const;

 private:
  Folder folder_;
  pid_t pid_ = -1;
};

// Waits until `what` holds; false after `seconds`.
bool wait_until(double seconds, const std::function<bool()>& what);

std::string ringcheck_program();
// Runs `ringcheck` with these words.
Ran ringcheck(const std::vector<std::string>& words,
              const std::map<std::string, std::string>& environment = {});

}  // namespace ringcheck::testing
