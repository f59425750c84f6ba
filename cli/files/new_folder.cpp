// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/files/new_folder.h"

#include <unistd.h>

#include <filesystem>

#include "cli/usage_error.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw UsageError("cannot make the folder '" + path + "': " + why +
                   "; name a new one in a folder that exists and may be written to");
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// A folder beside the one to be, which is gone with this object unless it became that.
class Beside {
 public:
  explicit Beside(const std::string& path)
      : path_(without_slashes(path)), own_(path_ + ".new" + std::to_string(::getpid())) {
    std::error_code error;
    if (path.empty()) refuse(path, "its name is empty");
    if (fs::exists(fs::symlink_status(path, error))) refuse(path, "it exists");
    if (!fs::create_directory(own_, error)) refuse(path, error.message());
  }
  ~Beside() {
    std::error_code ignored;
    fs::remove_all(own_, ignored);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  const std::string& path() const { return own_; }
  void become() const {
    std::error_code error;
    fs::rename(own_, path_, error);
    if (error) refuse(path_, error.message());
  }

 private:
  std::string path_, own_;
};

}  // namespace

void make_folder(const std::string& path, const std::function<void(const std::string&)>& fill) {
  const Beside beside(path);
  fill(beside.path());
  beside.become();
}

void open_folder(const std::string& path) {
  std::error_code error, ignored;
  fs::create_directory(path, error);
  if (!fs::is_directory(path, ignored)) refuse(path, fs::exists(path, ignored) ? "it is no folder" : error.message());
  reports::check_writable((fs::path(path) / "written").string());
}

void check_new_folder(const std::string& path) { const Beside removed_again(path); }

}  // namespace ringcheck::cli
