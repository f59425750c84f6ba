// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cp/error.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// How a world of threads ends when a rank fails: at once, by name, never in a hang.
namespace ringcheck {
namespace {

using namespace std::chrono_literals;

// Runs a world that must fail, and returns how.
RankFailure failure_of(const ThreadWorld& world, const std::function<void(Communicator&)>& body) {
  try {
    run(world, body);
  } catch (const RankFailure& failure) {
    return failure;
  }
  RC_FAIL("the world did not fail");
}

void exchange_right(Communicator& comm, int64_t sent, int64_t expected, const char* name) {
  const at::Tensor receive = at::empty({expected});
  comm.exchange(at::ones({sent}), comm.right(), receive, comm.left(), {name, 4}).wait();
}

// A rank that throws ends the world at once, under its own name and operation.
RC_GTEST_PROP(RankFailures, ARankThatThrowsEndsTheWorld, ()) {
  const int world = static_cast<int>(*gen::between(2, 8).as("world"));
  const int culprit = static_cast<int>(*gen::between(0, world - 1).as("culprit"));
  const auto begin = std::chrono::steady_clock::now();
  const RankFailure failure = failure_of({world, 60s, {}}, [&](Communicator& comm) {
    comm.agree_max(int64_t{1});
    if (comm.rank() == culprit) {
      comm.ledger().enter({"thinking", 7});
      throw std::runtime_error("no idea");
    }
    exchange_right(comm, 3, 3, "waiting");
    comm.agree_max(int64_t{1});
  });
  RC_ASSERT(failure.rank() == culprit);
  RC_ASSERT(!failure.hang());
  RC_ASSERT(std::string(failure.operation().name) == "thinking");
  RC_ASSERT(failure.operation().step == 7);
  const std::string expected = "rank " + std::to_string(culprit) + " in thinking, step 7: no idea";
  RC_ASSERT(std::string(failure.what()) == expected);
  RC_ASSERT((std::chrono::steady_clock::now() - begin < 20s));
}

// A partner that never comes ends the wait at the deadline, and the failure names it.
TEST(RankFailures, AMissingPartnerIsATimeout) {
  for (const int world : {2, 3, 5}) {
    const int missing = world - 2;
    const auto begin = std::chrono::steady_clock::now();
    const RankFailure failure = failure_of({world, 150ms, {}}, [&](Communicator& comm) {
      if (comm.rank() == missing)
        return;
      if (comm.left() == missing)
        exchange_right(comm, 3, 3, "exchange test");
    });
    const auto time = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(failure.rank(), world - 1);
    EXPECT_TRUE(failure.hang());
    EXPECT_EQ(failure.operation().peer, missing);
    EXPECT_THAT(failure.what(),
                testing::HasSubstr("exchange test, step 4, peer " + std::to_string(missing)));
    EXPECT_GE(time, 150ms);
    EXPECT_LT(time, 10s);
  }
}

// A message that nobody takes ends finish() at the deadline.
TEST(RankFailures, AMessageThatNobodyTakesIsATimeout) {
  const RankFailure failure = failure_of({2, 150ms, {}}, [](Communicator& comm) {
    if (comm.rank() == 1)
      std::ignore = comm.transfer({{at::ones({2}), 0}}, {}, {"lonely", 2});
  });
  EXPECT_EQ(failure.rank(), 1);
  EXPECT_TRUE(failure.hang());
  EXPECT_EQ(failure.operation().peer, 0);
}

// A message of another size or dtype than its buffer is an error, not a wrong result.
RC_GTEST_PROP(RankFailures, AWrongSizeIsAnError, ()) {
  const int world = *gen::world().as("world");
  const int64_t expected = *gen::between(1, 9).as("expected");
  const int64_t off = *gen::choice<int64_t>({1, -1, 20}).as("off by");
  RC_PRE(expected + off > 0);
  const auto failure = failure_of({world, 20s, {}}, [&](Communicator& comm) {
    exchange_right(comm, expected + off, expected, "exchange test");
  });
  RC_ASSERT(!failure.hang());
  RC_ASSERT(std::string(failure.operation().name) == "exchange test");
}

TEST(RankFailures, AnotherDtypeIsAnError) {
  const auto failure = failure_of({2, 20s, {}}, [](Communicator& comm) {
    const at::Tensor receive = at::empty({4}, at::kInt);
    comm.exchange(at::ones({4}), comm.right(), receive, comm.left(), {"test"}).wait();
  });
  EXPECT_FALSE(failure.hang());
}

// A message that is not contiguous is refused before anything is sent.
TEST(RankFailures, AStridedMessageIsRefused) {
  for (const bool sent : {true, false}) {
    const auto refused = on_every_rank(3, [&](Communicator& comm) {
      const at::Tensor strided = at::ones({4, 4}).t(), plain = at::ones({4, 4});
      try {
        std::ignore = comm.exchange(sent ? strided : plain, comm.right(), sent ? plain : strided,
                                    comm.left(), {"test"});
      } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("contiguous"));
        return 1;
      }
      return 0;
    });
    EXPECT_EQ(refused, std::vector<int>(3, 1)) << (sent ? "send" : "receive");
  }
}

// Every message that cannot be carried is refused by name, with the fix, before anything is booked
// or sent: the ranks go on as if it had not been tried.
TEST(RankFailures, WhatCannotBeSentIsRefusedByName) {
  struct Bad {
    at::Tensor data;
    int peer;
    const char *says, *fix;
    bool in_pieces = false;
  };
  const Bad bads[] = {{at::ones({2}), 3, "rank 3 has no such peer", "ranks 0 to 2"},
                      {at::ones({2}), -1, "rank -1 has no such peer", "ranks 0 to 2"},
                      {{}, 1, "undefined", "leave the message out"},
                      {at::ones({2, 2}).t(), 1, "not contiguous", "contiguous()"},
                      {at::ones({2}), 1, "1 dimensions and cannot be in pieces", "[n, m, ...]", true},
                      {at::ones({2, 2, 2, 2}).transpose(2, 3), 1, "not contiguous", "contiguous()", true},
                      {at::empty({2}, at::kMeta), 1, "is on meta", "move it to"}};
  const auto wrong = on_every_rank(3, [&](Communicator& comm) {
    std::string text;
    const Ledger::Scope scope(comm.ledger(), Phase::kForward);
    for (const Bad& bad : bads)
      for (const bool sent : {true, false}) {
        std::vector<Message> good{{at::ones({2}), 0}}, bad_ones{{bad.data, bad.peer, bad.in_pieces}};
        try {
          std::ignore = sent ? comm.transfer(bad_ones, good, {"odd", 6})
                             : comm.transfer(good, bad_ones, {"odd", 6});
          text += "accepted; ";
        } catch (const std::invalid_argument& error) {
          const std::string what = error.what();
          for (const char* part : {"odd, step 6", bad.says, bad.fix})
            if (what.find(part) == std::string::npos) text += what + " lacks " + part + "; ";
        }
      }
    if (!comm.ledger().transfers().empty()) text += "booked; ";
    exchange_right(comm, 3, 3, "after");
    return text;
  });
  EXPECT_EQ(wrong, std::vector<std::string>(3));
}

}  // namespace
}  // namespace ringcheck
