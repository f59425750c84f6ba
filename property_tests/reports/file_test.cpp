// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "property_tests/cli/program.h"

namespace ringcheck::reports {
namespace {

using testing::Folder;
using testing::read_text;
using ::testing::HasSubstr;

TEST(File, ReadersSeeTheOldOrTheNewFile) {
  const Folder folder;
  const std::string path = folder.file("result.json");
  write_file(path, "old");
  write_file(path, "new");
  EXPECT_EQ(read_text(path), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

// What a shell has redirected goes on behind it.
TEST(File, AnOpenStreamIsWrittenOnAndNotReplaced) {
  const Folder folder;
  const std::unique_ptr<FILE, int (*)(FILE*)> log(std::fopen(folder.file("log").c_str(), "a"), std::fclose);
  const std::string stream = "/dev/fd/" + std::to_string(fileno(log.get()));
  std::fputs("before\n", log.get()), std::fflush(log.get());
  check_writable(stream);
  write_file(stream, "content\n");
  std::fputs("after\n", log.get()), std::fflush(log.get());
  EXPECT_EQ(read_text(folder.file("log")), "before\ncontent\nafter\n");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string pipe = "/dev/fd/" + std::to_string(ends[1]);
  check_writable(pipe);
  write_file(pipe, "content");
  char got[16] = {};
  EXPECT_EQ(::read(ends[0], got, sizeof got), 7);
  EXPECT_STREQ(got, "content");
  ::close(ends[0]), ::close(ends[1]);
}

TEST(File, AFullDeviceIsRefusedBeforeAnyWork) { EXPECT_THROW(check_writable("/dev/full"), Unwritable); }

TEST(File, ALinkStaysAndWhatItLeadsToIsWritten) {
  const Folder folder;
  namespace fs = std::filesystem;
  fs::create_directory(folder.file("sub"));
  fs::create_symlink("sub/one", folder.file("relative"));  // it need not be there
  fs::create_symlink(folder.file("relative"), folder.file("twice"));
  check_writable(folder.file("twice"));
  EXPECT_FALSE(fs::exists(folder.file("sub/one")));
  write_file(folder.file("twice"), "content");
  EXPECT_EQ(read_text(folder.file("sub/one")), "content");
  EXPECT_TRUE(fs::is_symlink(folder.file("relative")) && fs::is_symlink(folder.file("twice")));
  fs::create_symlink("round", folder.file("round"));
  EXPECT_THROW(check_writable(folder.file("round")), Unwritable);
  EXPECT_THROW(write_file(folder.file("round"), "content"), Unwritable);
  EXPECT_TRUE(fs::is_symlink(folder.file("round")));
}

TEST(File, UnwritablePathsAreSeenBeforehand) {
  const Folder folder;
  EXPECT_THROW(check_writable(folder.path()), Unwritable);
  EXPECT_THROW(check_writable(folder.file("no/such/folder")), Unwritable);
  EXPECT_THROW(check_writable(""), Unwritable);
  EXPECT_NO_THROW(check_writable(folder.file("fine")));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(File, AFullDiskIsNamed) {
  try {
    write_file("/dev/full", "content");
    ADD_FAILURE() << "it was written";
  } catch (const Unwritable& error) {
    EXPECT_THAT(error.what(), HasSubstr("disk is full"));
  }
}

}  // namespace
}  // namespace ringcheck::reports
