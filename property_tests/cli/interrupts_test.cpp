// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C, whenever it comes: the signal ends the command, no process goes on, and nothing is left but
// whole files. What verify does with what it knows by then: supervisor_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "property_tests/cli/program.h"
#include "reports/file.h"

namespace ringcheck::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

class AnInterrupt : public ::testing::Test {
 protected:
  static Words names_in(const std::string& folder) {
    Words names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }
  static std::string temporary_folder_of(pid_t program) {
    std::ifstream stream("/proc/" + std::to_string(program) + "/environ");
    for (std::string word; std::getline(stream, word, '\0');)
      if (word.starts_with("TMPDIR=")) return word.substr(7);
    return "";
  }
  // Of a command that is ended when `when` holds.
  void ends(Words words, int number, const std::function<bool(const Running&)>& when) const {
    words.insert(words.begin(), ringcheck_program());
    Running program(words, {{"CUDA_VISIBLE_DEVICES", ""}, {"OMP_NUM_THREADS", "1"}});
    ASSERT_TRUE(wait_until(200, [&] { return when(program); }));
    const std::string temporary = temporary_folder_of(program.pid());
    program.signal(number);
    const Ran ran = program.wait();
    EXPECT_EQ(ran.code, 128 + number) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("nothing was written"));
    EXPECT_TRUE(wait_until(10, [&] { return program.workers().empty(); }));
    EXPECT_THAT(names_in(temporary), UnorderedElementsAre("out", "err"));
    EXPECT_THAT(names_in(folder_.path()), IsEmpty());
  }
  Folder folder_;
};

TEST_F(AnInterrupt, OfFaultsLeavesNoHunter) {
  for (const int number : {SIGINT, SIGTERM})
    ends({"faults", "--jobs", "2", "--dtype", "float32", "--oracles", "parity", "--json", folder_.file("faults.json")}, number,
         [](const Running& program) { return program.workers().size() >= 2; });
}

TEST_F(AnInterrupt, OfExportLeavesNoFolder) {
  ends({"export", folder_.file("cases"), "--seq", "64K", "--heads", "16", "--world", "1,2,4,8"}, SIGINT,
       [&](const Running&) {
         for (const std::string& name : names_in(folder_.path()))
           if (fs::exists(folder_.path() + "/" + name + "/case-0")) return true;
         return false;
       });
}

// A program that does nothing but write one file again and again.
TEST_F(AnInterrupt, OfAWriteLeavesAWholeFile) {
  constexpr size_t kBytes = 4 << 20;
  const std::string path = folder_.file("file");
  for (int i = 0; i < 12; ++i) {
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      ::signal(SIGINT, SIG_DFL);
      for (const std::string content(kBytes, 'x');;) reports::write_file(path, content);
    }
    EXPECT_TRUE(wait_until(60, [&] { return fs::exists(path); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * i));
    ::kill(writer, SIGINT);
    int status = 0;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    EXPECT_THAT(names_in(folder_.path()), ::testing::ElementsAre("file"));
    EXPECT_EQ(fs::file_size(path), kBytes);
  }
}

}  // namespace
}  // namespace ringcheck::testing
