// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/file.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>

namespace ringcheck::reports {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStandardOutput = "-";
constexpr size_t kProbe = 4096;  // bytes: a full disk still makes files without any

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Unwritable("cannot write '" + path + "': " + why +
                   "; name a file in a folder that exists and may be written to");
}

// By the number of the error of the system.
[[noreturn]] void fail(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT)
    throw Unwritable("cannot write '" + path + "': its disk is full (" + std::strerror(error) +
                     "); free some of it, or name a file on another one");
  fail(path, std::strerror(error));
}

// A pipe with a name waits for somebody who reads it; those of a shell have one.
bool is_named_pipe(const std::string& path) {
  std::error_code error;
  return fs::is_fifo(path, error) && !path.starts_with("/dev/") && !path.starts_with("/proc/");
}

// By any of its names.
bool is_stdout(const std::string& path) {
  return path == kStandardOutput || path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

// A device or an open stream by one of its names; /dev/shm holds files.
bool is_of_the_system(const std::string& path) {
  return (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) || path.starts_with("/proc/");
}

// Of the system's own folders nothing is ever replaced.
bool is_special(const std::string& path) {
  if (is_of_the_system(path)) return true;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// What a link leads to, be it there or not: the link stays. An open stream keeps its name: what stands behind it is written on, not replaced.
std::string behind_links(const std::string& name) {
  constexpr int kMostLinks = 40;
  fs::path path = name;
  std::error_code error;
  for (int link = 0; !is_of_the_system(path.string()) && fs::is_symlink(path, error); ++link) {
    if (link == kMostLinks) fail(name, ELOOP);
    path = path.parent_path() / fs::read_symlink(path, error);  // an absolute one replaces the whole
    if (error) fail(name, error.value());
  }
  return path.string();
}

// False when the system refuses; errno says why.
bool write_all(int descriptor, const std::string& content) {
  for (size_t done = 0; done < content.size();) {
    const ssize_t written = ::write(descriptor, content.data() + done, content.size() - done);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += static_cast<size_t>(written);
  }
  return true;
}

// While it lives SIGINT, SIGTERM and SIGHUP wait; then they have their effect.
class Undisturbed {
 public:
  Undisturbed() {
    struct sigaction note {};
    note.sa_handler = [](int signal) { came_ = signal; };
    note.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &note, &before_[signal]);
  }
  ~Undisturbed() {
    for (const auto& [signal, action] : before_) ::sigaction(signal, &action, nullptr);
    const int signal = came_;
    came_ = 0;
    if (signal != 0) ::raise(signal);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  static inline volatile sig_atomic_t came_ = 0;
  std::map<int, struct sigaction> before_;
};

// An open file that is closed and, unless it was kept, removed, whatever interrupts the program.
class Temporary {
 public:
  explicit Temporary(const std::string& path) : name_(path + ".XXXXXX") {
    std::error_code error;
    if (path.empty())
      fail(path, "the name is empty");
    if (fs::is_directory(path, error))
      fail(path, "it is a folder");
    descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0)
      fail(path, errno);
  }
  ~Temporary() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
    if (!kept_)
      ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  bool write(const std::string& content) const { return write_all(descriptor_, content); }
  bool become(const std::string& path) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor_, 0666 & ~mask) != 0 || ::fsync(descriptor_) != 0)
      return false;
    kept_ = ::rename(name_.c_str(), path.c_str()) == 0;
    return kept_;
  }

 private:
  const Undisturbed undisturbed_;  // gone last
  std::string name_;
  int descriptor_ = -1;
  bool kept_ = false;
};

}  // namespace

std::ostream& screen_beside(const std::string& path) { return screen_beside({path}); }

std::ostream& screen_beside(std::initializer_list<std::string> paths) {
  return std::ranges::any_of(paths, is_stdout) ? std::cerr : std::cout;
}

bool reader_has_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

void check_writable(const std::string& name) {
  if (is_stdout(name))
    return;
  const std::string path = behind_links(name);
  if (is_named_pipe(path))
    fail(path, "it is a pipe, which waits for a reader; - is stdout");
  if (is_special(path)) {
    if (path == "/dev/full") fail(path, ENOSPC);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) fail(path, errno);
    ::close(descriptor);
    return;
  }
  const Temporary probe(path);
  if (!probe.write(std::string(kProbe, '\n')))
    fail(path, errno);
}

void write_file(const std::string& name, const std::string& content) {
  if (is_stdout(name)) {
    std::cout << content << std::flush;
    const int error = errno;
    if (!std::cout && !reader_has_gone())
      fail("stdout", error);
    return;
  }
  const std::string path = behind_links(name);
  if (is_special(path)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    const bool good = descriptor >= 0 && write_all(descriptor, content);
    const int error = errno;
    if (descriptor >= 0)
      ::close(descriptor);
    if (!good && error != EPIPE)
      fail(path, error);
    return;
  }
  Temporary file(path);
  if (!file.write(content) || !file.become(path))
    fail(path, errno);
}

}  // namespace ringcheck::reports
