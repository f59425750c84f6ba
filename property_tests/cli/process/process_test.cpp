// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "cli/process/programs.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using cli::Command;
using cli::process_state;

class Processes : public ::testing::Test {
 protected:
  Command shell(const std::string& script) const {
    return {{"/bin/sh", "-c", script}, {}, folder_.file("out")};
  }
  std::string output() const { return read_text(folder_.file("out")); }
  // The process whose number the child wrote.
  pid_t written() const {
    EXPECT_TRUE(wait_until(20, [&] { return output().ends_with("\n"); }));
    return std::stoi(output());
  }
  static bool gone(pid_t pid) {
    return !cli::is_alive(pid);
  }

  Folder folder_;
};

TEST_F(Processes, SayHowTheyEnded) {
  for (const auto& [script, text] : std::map<std::string, std::string>{
           {"exit 0", "exit code 0"}, {"exit 3", "exit code 3"},
           {"kill -9 $$", "signal 9 (Killed)"}}) {
    cli::Process process(shell(script));
    ASSERT_TRUE(process.wait(20));
    EXPECT_EQ(process.poll()->text(), text);
    EXPECT_EQ(process_state(process.pid()), std::nullopt) << "a zombie stays";
  }
}

TEST_F(Processes, HaveTheirOutputInFilesAndNoInput) {
  Command command = shell("cat; echo said; echo wrong >&2; ls -l /proc/$$/fd | grep -c '/out$'");
  cli::Process one(command);
  ASSERT_TRUE(one.wait(20));
  EXPECT_EQ(output(), "said\nwrong\n2\n");  // open as stdout and stderr, and no third time
  command.errors = folder_.file("err");
  cli::Process two(command);
  ASSERT_TRUE(two.wait(20));
  EXPECT_EQ(output(), "said\nwrong\n2\nsaid\n1\n");
  EXPECT_EQ(read_text(folder_.file("err")), "wrong\n");
}

TEST_F(Processes, SeeOurVariablesAndTheirOwn) {
  ::setenv("RINGCHECK_OURS", "1", 1);
  ::setenv("RINGCHECK_BOTH", "1", 1);
  Command command = shell("echo $RINGCHECK_OURS $RINGCHECK_BOTH $RINGCHECK_THEIRS");
  command.environment = {{"RINGCHECK_BOTH", "2"}, {"RINGCHECK_THEIRS", "3"}};
  cli::Process process(command);
  ASSERT_TRUE(process.wait(20));
  EXPECT_EQ(output(), "1 2 3\n");
  EXPECT_STREQ(std::getenv("RINGCHECK_BOTH"), "1");
}

TEST_F(Processes, WhatCannotStartIsSaid) {
  cli::Process process({{"/nonexistent/program"}, {}, folder_.file("out")});
  ASSERT_TRUE(process.wait(20));
  EXPECT_EQ(process.poll()->text(), "exit code 127");
  Command command = shell("exit 0");
  command.output = "/nonexistent/out";
  try {
    cli::Process never(command);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "cannot start '/bin/sh': No such file or directory");
  }
}

TEST_F(Processes, AreWaitedForNoLongerThanSaid) {
  cli::Process process(shell("sleep 100"));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(process.wait(0.2));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(Processes, DieWithTheirGroup) {
  pid_t child = 0, other = 0;
  {
    cli::Process process(shell("sleep 100 & echo $!; wait"));
    child = process.pid();
    other = written();
    EXPECT_FALSE(gone(other));
  }
  EXPECT_EQ(process_state(child), std::nullopt) << "a zombie stays";
  EXPECT_TRUE(wait_until(5, [&] { return gone(other); }));
}

TEST_F(Processes, LeaveNobodyBehind) {
  cli::Process process(shell("sleep 100 & echo $!"));
  ASSERT_TRUE(process.wait(20));
  EXPECT_EQ(process.poll()->text(), "exit code 0");
  EXPECT_TRUE(wait_until(5, [&] { return gone(written()); }));
  EXPECT_EQ(process_state(process.pid()), std::nullopt) << "a zombie stays";
}

TEST_F(Processes, AreAskedToEndAndThenKilled) {
  cli::Process polite(shell("trap 'exit 7' TERM; echo $$; while :; do sleep 0.01; done"));
  written();
  polite.end();
  EXPECT_EQ(polite.poll()->text(), "exit code 7");
  std::filesystem::remove(folder_.file("out"));
  cli::Process deaf(shell("trap '' TERM; echo $$; while :; do sleep 0.01; done"));
  written();
  ::kill(deaf.pid(), SIGSTOP);
  deaf.end();
  EXPECT_EQ(deaf.poll()->signal, SIGKILL);
}

TEST_F(Processes, DieWithUs) {
  const pid_t starter = ::fork();
  ASSERT_GE(starter, 0);
  if (starter == 0) {
    cli::Process process(shell("echo $$; exec sleep 100"));
    for (;;) ::pause();
  }
  const pid_t child = written();
  EXPECT_FALSE(gone(child));
  ::kill(starter, SIGKILL);
  EXPECT_TRUE(wait_until(5, [&] { return gone(child); }));
  ::waitpid(starter, nullptr, 0);
}

}  // namespace
}  // namespace ringcheck::testing
