// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/usage_error.h"

namespace ringcheck::cli {

TemporaryFolder::TemporaryFolder() {
  const char* place = std::getenv("TMPDIR");
  path_ = std::string(place != nullptr && *place != '\0' ? place : "/tmp") + "/ringcheck-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr)
    throw UsageError("cannot make a folder '" + path_ + "': " + std::strerror(errno) +
                     "; let TMPDIR name one that may be written to");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ringcheck::cli
