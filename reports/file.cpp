// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace ringcheck::reports {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Unwritable("cannot write '" + path + "': " + why +
                   "; name a file in a folder that exists and may be written to");
}

bool is_special(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// An open file that is closed and, unless it was kept, removed.
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
      fail(path, std::strerror(errno));
  }
  ~Temporary() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
    if (!kept_)
      ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  // False when the system refuses; errno says why.
  bool write(const std::string& content) const {
    for (size_t done = 0; done < content.size();) {
      const ssize_t written = ::write(descriptor_, content.data() + done, content.size() - done);
      if (written < 0 && errno != EINTR)
        return false;
      if (written > 0)
        done += static_cast<size_t>(written);
    }
    return true;
  }
  bool become(const std::string& path) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor_, 0666 & ~mask) != 0 || ::fsync(descriptor_) != 0)
      return false;
    kept_ = ::rename(name_.c_str(), path.c_str()) == 0;
    return kept_;
  }

 private:
  std::string name_;
  int descriptor_ = -1;
  bool kept_ = false;
};

}  // namespace

void check_writable(const std::string& path) {
  if (is_special(path)) {
    if (::access(path.c_str(), W_OK) != 0)
      fail(path, std::strerror(errno));
    return;
  }
  const Temporary probe(path);
}

void write_file(const std::string& path, const std::string& content) {
  if (is_special(path)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool good = descriptor >= 0 && ::write(descriptor, content.data(), content.size()) ==
                                             static_cast<ssize_t>(content.size());
    if (descriptor >= 0)
      ::close(descriptor);
    if (!good)
      fail(path, std::strerror(errno));
    return;
  }
  Temporary file(path);
  if (!file.write(content) || !file.become(path))
    fail(path, std::strerror(errno));
}

}  // namespace ringcheck::reports
