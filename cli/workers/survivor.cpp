// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/survivor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>

namespace ringcheck::cli {
namespace {

constexpr unsigned kMostSeconds = 60;  // for what it does: a reader of its output may be stopped

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

void wait_for(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// A byte says that it is dismissed; the end of the line, that nobody is there to say anything.
bool is_dismissed(int line) {
  char word = 0;
  ssize_t got = 0;
  do got = ::read(line, &word, 1);
  while (got < 0 && errno == EINTR);
  return got != 0;
}

[[noreturn]] void survive(int line, const std::function<void()>& last) {
  ::setsid();
  ::prctl(PR_SET_NAME, "ringcheck-last");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  if (is_dismissed(line)) ::_exit(0);
  ::alarm(kMostSeconds);
  try {
    last();
  } catch (const std::exception& error) {
    std::cerr << "ringcheck: " << error.what() << "\n";
  }
  std::cout << std::flush;
  ::_exit(0);
}

}  // namespace

Survivor::Survivor(const std::function<void()>& last) {
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC) == 0, "pipe");
  std::cout << std::flush;
  child_ = ::fork();
  if (child_ == 0) {
    ::close(ends[1]);
    survive(ends[0], last);
  }
  ::close(ends[0]);
  line_ = ends[1];
  check(child_ > 0, "fork");
}

void Survivor::act() {
  const int line = line_.exchange(-1);
  if (line < 0) return;
  ::close(line);
  wait_for(child_);
}

void Survivor::dismiss() {
  const int line = line_.exchange(-1);
  if (line < 0) return;
  [[maybe_unused]] const ssize_t told = ::write(line, "", 1);  // it may be dead
  ::close(line);
  wait_for(child_);
}

}  // namespace ringcheck::cli
