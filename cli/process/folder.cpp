// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/usage_error.h"

namespace ringcheck::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "ringcheck-run-";
// Between its making and its lock a folder looks as if nobody had it.
constexpr std::chrono::minutes kYoung{1};
constexpr size_t kNeeded = 1 << 16;  // bytes: what the workers of a run of a few cases write

// The lock on a folder, or -1 where somebody has it. It ends with the process, whatever ends that,
// and holds between containers that share the folder; their process ids would say nothing.
int lock(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0 || ::flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  ::close(folder);
  return -1;
}

void remove_abandoned(const fs::path& place) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const auto changed = entry.last_write_time(ignored);
    if (ignored || fs::file_time_type::clock::now() - changed < kYoung) continue;
    const int folder = lock(entry.path());
    if (folder < 0) continue;
    fs::remove_all(entry.path(), ignored);
    ::close(folder);
  }
}

[[noreturn]] void refuse(const std::string& place, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  throw UsageError("cannot write to the folder '" + place + "' for temporary files" +
                   (full ? ": its disk is full (" : ": ") + std::strerror(error) +
                   (full ? "); free some of it, or let TMPDIR name another one"
                         : "; let TMPDIR name one that exists and may be written to"));
}

// A full disk still makes folders and empty files.
void check_space(const std::string& place, const std::string& path) {
  const std::string probe = path + "/probe";
  const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::string content(kNeeded, '\n');
  errno = ENOSPC;  // where less is written than was asked for
  const bool good =
      file >= 0 && ::write(file, content.data(), content.size()) == ssize_t{kNeeded};
  const int error = errno;
  if (file >= 0) ::close(file);
  ::unlink(probe.c_str());
  if (good) return;
  ::rmdir(path.c_str());
  refuse(place, error);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* named = std::getenv("TMPDIR");
  const std::string place = named != nullptr && *named != '\0' ? named : "/tmp";
  remove_abandoned(place);
  path_ = place + "/" + kPrefix + "XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) refuse(place, errno);
  lock_ = lock(path_);  // without one, on some network disks, nobody gets it: nothing is removed
  check_space(place, path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace ringcheck::cli
