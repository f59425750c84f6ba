// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/usage_error.h"
#include "property_tests/cli/program.h"

namespace ringcheck::cli {
namespace {

namespace fs = std::filesystem;

// TMPDIR for as long as it lives.
class Place {
 public:
  explicit Place(const std::string& path) { ::setenv("TMPDIR", path.c_str(), 1); }
  ~Place() {
    if (before_.empty()) ::unsetenv("TMPDIR");
    else ::setenv("TMPDIR", before_.c_str(), 1);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  const std::string before_ = std::getenv("TMPDIR") == nullptr ? "" : std::getenv("TMPDIR");
};

void make_old(const fs::path& path) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

// Of those that look abandoned only the ones that are: without a process, and not just made.
TEST(TemporaryFolder, TheNextRunRemovesWhatAKilledOneLeft) {
  const TemporaryFolder around;
  const Place place(around.path());
  const fs::path dead = around.file("ringcheck-run-dead00"), young = around.file("ringcheck-run-young0"),
                 foreign = around.file("ringcheck-notes");
  for (const fs::path& path : {dead, young, foreign}) {
    fs::create_directory(path);
    testing::write_text(path / "file", "content");
  }
  const TemporaryFolder living;
  for (const fs::path& path : {dead, foreign, fs::path(living.path())}) make_old(path);
  const TemporaryFolder next;
  EXPECT_FALSE(fs::exists(dead));
  for (const fs::path& path : {young, foreign, fs::path(living.path()), fs::path(next.path())})
    EXPECT_TRUE(fs::exists(path)) << path;
}

TEST(TemporaryFolder, SaysThatItCannotBeMade) {
  const Place place("/nowhere");
  try {
    const TemporaryFolder folder;
    ADD_FAILURE() << folder.path();
  } catch (const UsageError& error) {
    for (const char* word : {"/nowhere", "No such file", "TMPDIR"})
      EXPECT_THAT(error.what(), ::testing::HasSubstr(word));
  }
}

}  // namespace
}  // namespace ringcheck::cli
