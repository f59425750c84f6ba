// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringcheck::cli {

// A new folder in TMPDIR or /tmp, removed with what it holds; a run that is killed leaves its own to
// the next one, which removes it. Locked as long as its process lives.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws UsageError
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace ringcheck::cli
