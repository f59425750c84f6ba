// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rank of a launcher ended the others, by what each of them said last.
#include "cli/workers/death.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "cli/workers/last_words.h"
#include "property_tests/cli/program.h"

namespace ringcheck::cli {
namespace {

using reports::Status;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A process that has ended; its parent has not asked how.
class Dead {
 public:
  Dead() : pid_(::fork()) {
    if (pid_ == 0) ::_exit(0);
    siginfo_t how{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOWAIT), 0);
  }
  ~Dead() { ::waitpid(pid_, nullptr, 0); }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

RankStatus running(pid_t pid, uint64_t when) {
  RankStatus rank;
  rank.pid = pid;
  rank.test = 1;
  rank.when = when;
  rank.state = RankState::kRunning;
  return rank;
}

RankStatus ended(RankState state, uint64_t when) {
  RankStatus rank = running(::getpid(), when);
  rank.state = state;
  rank.signal = state == RankState::kInterrupted ? SIGTERM : 0;
  return rank;
}

RankStatus interrupted(uint64_t when, int32_t gone) {
  RankStatus rank = ended(RankState::kInterrupted, when);
  rank.gone = gone;
  return rank;
}

TEST(LaunchedDeath, OfARankThatSaysNothingIsACrash) {
  const Dead dead;
  const Death death = explain_launched({ended(RankState::kThrew, 9), running(dead.pid(), 3)});
  EXPECT_EQ(death.verdict, Status::kCrash);
  EXPECT_EQ(death.test, 1);
  EXPECT_THAT(death.reason, StartsWith("rank 1 in "));
  EXPECT_THAT(death.reason, HasSubstr("its process is gone"));
}

TEST(Death, SaysWhichExceptionNobodyCaught) {
  RankStatus rank = ended(RankState::kSignaled, 5);
  rank.signal = SIGABRT;
  const std::string said = "a warning\nended by an exception that nobody catches: CUDA error: an illegal memory access\nmore\n";
  EXPECT_THAT(explain(collect({rank}, Ended{0, SIGABRT}, 0, said)).reason,
              ::testing::EndsWith("signal 6 (Aborted), CUDA error: an illegal memory access"));
  EXPECT_THAT(explain(collect({rank}, Ended{0, SIGABRT}, 0, "a warning\n")).reason, ::testing::EndsWith("signal 6 (Aborted)"));
}

struct ThrowsWhenItGoes {
  ~ThrowsWhenItGoes() noexcept(false) { throw std::runtime_error("CUDA error:\n of a destructor"); }
};

// Destructors do it, on many threads at once.
TEST(Death, AnExceptionThatNobodyCatchesIsSaidOnce) {
  const auto end = [] {
    say_what_ends_this_process();
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([] {
        const std::unique_ptr<ThrowsWhenItGoes> gone(new ThrowsWhenItGoes);
      });
    for (std::thread& thread : threads) thread.join();
  };
  EXPECT_DEATH(end(), "^ended by an exception that nobody catches: CUDA error:  of a destructor\n$");
}

// A launcher ends the others by a signal once one of them is gone.
TEST(LaunchedDeath, BeforeTheOthersWereInterruptedIsACrash) {
  const Dead dead;
  const Death death = explain_launched({interrupted(9, 1), running(dead.pid(), 3)});
  EXPECT_EQ(death.verdict, Status::kCrash);
  EXPECT_THAT(death.reason, StartsWith("rank 1 in "));
  // And kills who does not answer it soon enough: that one is not to blame.
  for (const int slow : {0, 1}) {
    std::vector<RankStatus> ranks{running(dead.pid(), 3), running(dead.pid(), 3), interrupted(60, 1 - slow)};
    ranks[1 - slow].when = 50;
    EXPECT_THAT(explain_launched(ranks).reason, StartsWith("rank " + std::to_string(1 - slow) + " in "));
  }
}

// It kills who does not answer a signal soon enough.
TEST(LaunchedDeath, AfterAnInterruptIsItsWork) {
  const Dead dead;
  for (const uint64_t last_word : {3, 11}) {
    const Death death = explain_launched({interrupted(9, -1), running(dead.pid(), last_word)});
    EXPECT_EQ(death.verdict, Status::kSkipped);
    EXPECT_THAT(death.reason, StartsWith("rank 0 in "));
    EXPECT_THAT(death.reason, HasSubstr("interrupted by Terminated"));
  }
  // Rank 0 has ended where this is asked.
  EXPECT_EQ(explain_launched({running(::getpid(), 3), interrupted(9, -1)}).verdict, Status::kSkipped);
  // Who is interrupted later may find gone who was interrupted before.
  EXPECT_EQ(explain_launched({interrupted(9, -1), running(dead.pid(), 3), interrupted(10, 1)}).verdict,
            Status::kSkipped);
}

TEST(LaunchedDeath, IsThatOfWhoeverSaidSoFirst) {
  for (const auto& [state, verdict] :
       {std::pair(RankState::kThrew, Status::kCrash), std::pair(RankState::kSignaled, Status::kCrash),
        std::pair(RankState::kTimedOut, Status::kHang)}) {
    const Death before = explain_launched({interrupted(9, -1), ended(state, 8)});
    EXPECT_EQ(before.verdict, verdict);
    EXPECT_THAT(before.reason, StartsWith("rank 1 in "));
    EXPECT_EQ(explain_launched({interrupted(9, -1), ended(state, 10)}).verdict, Status::kSkipped);
  }
}

TEST(LaunchedDeath, OfRanksOfOtherMachinesIsNotKnown) {
  const Death death = explain_launched({interrupted(9, -1), RankStatus{}});
  EXPECT_EQ(death.verdict, Status::kCrash);
  EXPECT_THAT(death.reason, HasSubstr("other machines"));
}

Cost cost(int running, const Accounts& accounts) {
  Death death;
  death.test = running;
  return cost_of(death, accounts);
}
constexpr Cost kNothing{Cost::Of::kNothing}, kItsStart{Cost::Of::kStart};
constexpr Cost of_test(size_t test) { return {Cost::Of::kTest, test}; }

TEST(TheCostOfADeath, IsTheCaseThatWasRunning) {
  EXPECT_EQ(cost(3, {{}, {3}, {3}}), of_test(3));
  EXPECT_EQ(cost(3, {{2}, {1, 3, 5}, {1, 3, 5}}), of_test(3)) << "not the first of those that are left";
  EXPECT_EQ(cost(0, {{}, {0, 1}, {0, 1}}), of_test(0));
}

// By a group that ended, or would not have gone on.
TEST(TheCostOfADeath, BetweenTwoCasesIsPaid) {
  EXPECT_EQ(cost(3, {{3}, {5, 4}, {5, 4}}), of_test(5)) << "by the next";
  EXPECT_EQ(cost(3, {{2, 3}, {}, {}}), of_test(3)) << "or the last";
  EXPECT_EQ(cost(2, {{2, 3}, {}, {}}), of_test(3)) << "whichever case it is blamed in";
}

// The group was silent, and went on before it was ended.
TEST(TheCostOfADeath, IsNothingWhereItWentOnMeanwhile) {
  EXPECT_EQ(cost(3, {{3}, {3, 5}, {5}}), kNothing);
  EXPECT_EQ(cost(3, {{2, 3}, {3}, {}}), kNothing);
  EXPECT_EQ(cost(4, {{3}, {3}, {4}}), kNothing) << "the next one has begun";
}

TEST(TheCostOfADeath, BeforeTheFirstCaseIsItsStart) {
  EXPECT_EQ(cost(-1, {{}, {0, 1}, {0, 1}}), kItsStart);
  EXPECT_EQ(cost(-1, {}), kItsStart);
  EXPECT_EQ(cost(0, {}), kItsStart) << "of a case that is none of its own";
}

TEST(ACaseThatBegins, LeavesNoRankInTheOneBefore) {
  const testing::Folder folder;
  const StatusFile status = StatusFile::create(folder.file("status"), 4);
  status.begin_world(3, 0);
  status.begin_world(2, 1);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(status.read(rank).state, rank < 2 ? RankState::kRunning : RankState::kIdle) << rank;
    EXPECT_EQ(status.read(rank).test, 1) << "it may have a world of more ranks beside it";
  }
  status.begin_world(4, 2);
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(status.read(rank).test, 2);
}

TEST(WhatARankSaysOfItsEnd, StandsUntilItBeginsAnotherCase) {
  const testing::Folder folder;
  const StatusFile status = StatusFile::create(folder.file("status"), 2);
  for (const auto& [first, second] : {std::pair(RankState::kTimedOut, RankState::kThrew),
                                      std::pair(RankState::kThrew, RankState::kTimedOut)}) {
    status.begin(0, 4);
    status.failed(0, first, "first");
    const RankStatus said = status.read(0);
    status.failed(0, second, "second");
    EXPECT_EQ(status.read(0).state, first);
    EXPECT_STREQ(status.read(0).note, "first");
    EXPECT_EQ(status.read(0).when, said.when) << "ranks are told apart by when they said it";
  }
  status.begin(1, 4);
  status.failed(1, RankState::kThrew, "another rank");
  EXPECT_STREQ(status.read(1).note, "another rank");
}

// What rank 0 says when it is interrupted beside rank 1, which does this.
RankStatus said_beside(const std::function<void(const StatusFile&)>& rank_1, bool ends) {
  const testing::Folder folder;
  const StatusFile status = StatusFile::create(folder.file("status"), 2);
  const auto start = [](const std::function<void()>& act) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    act();
    for (;;) ::pause();
  };
  const pid_t other = start([&] {
    status.begin(1, 4);
    rank_1(status);
    if (ends) ::_exit(0);
  });
  siginfo_t ignored{};
  if (ends) ::waitid(P_PID, static_cast<id_t>(other), &ignored, WEXITED | WNOWAIT);
  EXPECT_TRUE(testing::wait_until(20, [&] { return status.read(1).progress > 0; }));
  const pid_t first = start([&] {
    status.begin(0, 4);
    status.note_end(0, nullptr);
    ::raise(SIGTERM);
  });
  int how = 0;
  EXPECT_EQ(::waitpid(first, &how, 0), first);
  EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  return status.read(0);
}

TEST(AnInterruptedRank, SaysWhoseProcessIsGone) {
  const auto works = [](const StatusFile&) {};
  const RankStatus alone = said_beside(works, true);
  EXPECT_EQ(alone.state, RankState::kInterrupted);
  EXPECT_EQ(alone.signal, SIGTERM);
  EXPECT_EQ(alone.gone, 1);
  EXPECT_EQ(said_beside(works, false).gone, -1);
  EXPECT_EQ(said_beside([](const StatusFile& status) { status.done(1); }, true).gone, -1);
}

}  // namespace
}  // namespace ringcheck::cli
