// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks of a launcher lose nothing, however they end.
#include <gmock/gmock.h>
#include <signal.h>

#include "property_tests/cli/launched_run.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class LaunchedEnds : public LaunchedRun {
 protected:
  void expect_no_journal() const { EXPECT_FALSE(exists("result.json.journal")); }
  // By a signal to a rank, or to mpirun (-1).
  int interrupted(int rank, int number) {
    start();
    const pid_t first = process(std::max(rank, 0));
    ::kill(rank < 0 ? program_->pid() : first, number);
    return end().code;
  }
  std::string reason(const json& test) const { return test["reason"]; }
};

TEST_F(LaunchedEnds, ARankThatIsKilledIsACrashThatNamesIt) {
  start();
  ::kill(process(1), SIGKILL);
  const Ran ran = end();
  EXPECT_EQ(ran.code, 128 + SIGKILL);
  const json test = second_case("crash");
  EXPECT_THAT(reason(test), StartsWith("rank 1 in "));
  EXPECT_THAT(reason(test), HasSubstr("its process is gone"));
  EXPECT_EQ(test["findings"].size(), 3U);
  // Where mpirun ends before its rank 0 has printed, nobody is there to show it; the files have it.
  EXPECT_THAT(ran.out, AnyOf(HasSubstr("3 cases: 1 passed, 1 CRASH, 1 skipped"), Not(HasSubstr(" cases: "))));
  expect_no_journal();
}

TEST_F(LaunchedEnds, TheRankThatWritesMayBeKilledAsWell) {
  start();
  ::kill(process(0), SIGKILL);
  EXPECT_EQ(end().code, 128 + SIGKILL);
  EXPECT_THAT(reason(second_case("crash")), StartsWith("rank 0 in "));
  expect_no_journal();
}

// As a terminal that is closed, or a batch system, signals every process there is.
TEST_F(LaunchedEnds, WhatSurvivesIsDeafToWhatEndsOthers) {
  start();
  const pid_t survivor = process(-1);
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) ::kill(survivor, number);
  ::kill(process(0), SIGKILL);
  EXPECT_EQ(end().code, 128 + SIGKILL);
  EXPECT_THAT(reason(second_case("crash")), StartsWith("rank 0 in "));
  expect_no_journal();
}

TEST_F(LaunchedEnds, ASignalOfItsOwnIsNamed) {
  start();
  ::kill(process(2), SIGSEGV);
  EXPECT_EQ(end().code, 128 + SIGSEGV);
  EXPECT_THAT(reason(second_case("crash")), HasSubstr("signal 11"));
  expect_no_journal();
}

// As a CI system and a keyboard end it.
TEST_F(LaunchedEnds, AnInterruptOfMpirunSkipsTheRest) {
  for (const int number : {SIGTERM, SIGINT}) {
    EXPECT_NE(interrupted(-1, number), 0);
    const json test = second_case("skipped");
    EXPECT_THAT(reason(test), HasSubstr("interrupted by Terminated"));
    EXPECT_THAT(reason(test), Not(HasSubstr("the run ended before it")));
    expect_no_journal();
  }
}

TEST_F(LaunchedEnds, AnInterruptOfOneRankSkipsTheRest) {
  EXPECT_EQ(interrupted(1, SIGTERM), 128 + SIGTERM);
  EXPECT_THAT(reason(second_case("skipped")), StartsWith("rank 1 in "));
  expect_no_journal();
}

TEST_F(LaunchedEnds, AStoppedRankIsAHang) {
  std::vector<std::string> words = kThreeCases;
  words.insert(words.end(), {"--deadline", "8"});
  start(words);
  ::kill(process(1), SIGSTOP);
  EXPECT_EQ(end().code, 5);
  // Whoever waits for longest: for a message from it, or until it has taken one.
  EXPECT_THAT(reason(second_case("hang")),
              AnyOf(HasSubstr("peer 1: nothing arrived within 8000 ms"), HasSubstr("peer 1: not complete within 8000 ms")));
  expect_no_journal();
}

// Nothing of ours is left: the journal says what is known, and says it in the same form.
TEST_F(LaunchedEnds, WhereEverythingIsKilledTheJournalIsLeft) {
  start();
  const pid_t survivor = process(-1);
  for (const Found& one : alive()) ::kill(one.pid, SIGSTOP);
  ::kill(survivor, SIGKILL);
  for (const Found& one : alive()) ::kill(one.pid, SIGKILL);
  end();
  ASSERT_TRUE(exists("result.json.journal"));
  EXPECT_FALSE(exists("result.json"));
  const Ran ran = ringcheck({"result", "recover", file("result.json.journal"), "-o",
                             file("result.json"), "--junit", file("junit.xml")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("3 cases: 1 passed, 1 CRASH, 1 skipped"));
  EXPECT_THAT(reason(second_case("crash")), HasSubstr("without a word"));
  EXPECT_EQ(ringcheck({"report", file("result.json")}).out, ran.out);
}

TEST_F(LaunchedEnds, ARunInGoodOrderLeavesNoJournal) {
  start({"--case", "ring:p2p/P3/s40/d16"});
  EXPECT_EQ(end().code, 0);
  EXPECT_EQ(result()["summary"]["passed"], 1);
  expect_no_journal();
}

TEST_F(LaunchedEnds, AnEarlierJournalIsKeptAndNamed) {
  write_text(file("result.json.journal"), "of an earlier run\n");
  write_text(file("result.json.journal.1"), "of the one before\n");
  start({"--case", "ring:p2p/P3/s40/d16"});
  const Ran ran = end();
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("ringcheck result recover " + file("result.json.journal.2")));
  EXPECT_EQ(read_text(file("result.json.journal.1")), "of the one before\n");
  EXPECT_EQ(read_text(file("result.json.journal.2")), "of an earlier run\n");
  expect_no_journal();
}

TEST_F(LaunchedEnds, AJournalInUseIsNobodyElses) {
  std::vector<std::string> words = kThreeCases;
  words[3] = "ring:p2p/P3/hq16/hkv16/s9000/d128/float32";  // at work for as long as two other programs take
  start(words);
  process(0);
  const Ran other = Running({"/usr/bin/env", "mpirun", "-n", "2", ringcheck_program(), "verify",
                             "--seq", "40", "--json", file("result.json")}).wait();
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("another run is writing it"));
  const Ran early =
      ringcheck({"result", "recover", file("result.json.journal"), "-o", file("result.json")});
  EXPECT_EQ(early.code, 2);
  EXPECT_THAT(early.err, HasSubstr("its run goes on"));
  program_->signal(SIGTERM);
  end();
  second_case("skipped");
}

}  // namespace
}  // namespace ringcheck::testing
