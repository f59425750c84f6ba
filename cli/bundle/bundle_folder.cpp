// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bundle/bundle_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iostream>

#include "cli/bundle/bundle.h"
#include "cli/screen.h"
#include "cli/usage_error.h"

namespace ringcheck::cli {
namespace {

namespace fs = std::filesystem;

std::string kept_text(const std::string& path) {
  const nlohmann::json manifest = parity::read_manifest(path, kBundle);
  const std::string smaller =
      manifest.contains("shrunk") ? ", made smaller: " + manifest.at("case").get<std::string>() : "";
  return "kept" + smaller + ": ringcheck replay '" + path + "'";
}

}  // namespace

BundleFolder::BundleFolder(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  make();
  hold();
}

void BundleFolder::make() {
  std::error_code error;
  if (fs::exists(path_, error)) {
    if (!fs::is_directory(path_, error) || !fs::is_empty(path_, error))
      throw UsageError("--bundle '" + path_ + "' is not an empty folder; name a new one");
    return;
  }
  made_ = fs::create_directory(path_, error);
  if (!made_)
    throw UsageError("--bundle '" + path_ + "' cannot be made: " + error.message() +
                     "; name a new folder in one that exists and may be written to");
}

// A disk that knows no locks holds nobody back.
void BundleFolder::hold() {
  held_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (held_ >= 0 && ::flock(held_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(held_);
    throw UsageError("--bundle '" + path_ + "' is in use by another run; name a new folder");
  }
}

BundleFolder::~BundleFolder() {
  std::error_code ignored;
  if (made_ && fs::is_empty(path_, ignored)) fs::remove(path_, ignored);
  if (held_ >= 0) ::close(held_);
}

void BundleFolder::note(std::vector<reports::CaseResult>& results) const {
  if (path_.empty()) return;
  size_t kept = 0, without = 0;
  for (reports::CaseResult& test : results) {
    const std::string path = path_ + "/" + bundle_name(test.name);
    // Workers that fail at the same moment may each have kept the last one.
    if (kept == kMostBundles) fs::remove_all(path);
    if (fs::exists(path)) {
      test.findings.push_back(kept_text(path));
      ++kept;
    } else if (test.verdict == reports::Status::kFail) {
      ++without;
    }
  }
  if (without > 0)
    std::cerr << complaint(std::to_string(without) + " of the failed cases " +
                           (without == 1 ? "is" : "are") + " not kept in '" + path_ + "': at most " +
                           std::to_string(kMostBundles) + " are, of at most " +
                           std::to_string(kMostBundleBytes >> 20) +
                           " MiB each, and what the disk has room for");
}

}  // namespace ringcheck::cli
