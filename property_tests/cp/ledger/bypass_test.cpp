// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/bypass.h"

#include <gtest/gtest.h>

#include <thread>

namespace ringcheck {
namespace {

void send(int64_t bytes) { BypassingCall("send").sends(1, bytes); }

TEST(Bypass, GoesToTheLedgerOfItsRank) {
  Ledger ledgers[2];
  const auto rank = [&](int r) {
    const Witnessed witnessed(ledgers[r], {0, 1});
    const Ledger::Scope scope(ledgers[r], Phase::kForward);
    send(10 + r);
    BypassingCall("receive").receives(3, 100);
  };
  { const std::jthread first(rank, 0), second(rank, 1); }
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(ledgers[r].traffic().bytes_sent, 10 + r);
    EXPECT_EQ(ledgers[r].sum(Phase::kForward).bytes_sent, 10 + r);
    EXPECT_EQ(ledgers[r].traffic().peers.at(3).received, 100);
    EXPECT_LT(ledgers[r].transfers().back().operation.step, 0);  // of none
  }
}

// Nobody knows when it is waited for: no overlap is told, and nothing is missed.
TEST(Bypass, IsNotWaitedForByAnybodyKnown) {
  Ledger ledger;
  const Witnessed witnessed(ledger, {0, 2, 5});
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    send(10);
    BypassingCall("receive").receives(3, 100);
  }
  EXPECT_EQ(ledger.sum(Phase::kForward).overlapped, std::nullopt);
  EXPECT_EQ(ledger.sum(Phase::kForward).unwaited, 0);
  EXPECT_EQ(ledger.sum(Phase::kBackward).overlapped, 0);
}

// A group of some ranks, of which nobody says which: of its peers nothing is known.
TEST(Bypass, KnowsPeersOfGroupsOfAllRanks) {
  Ledger ledger;
  const Witnessed witnessed(ledger, {0, 2, 5});
  EXPECT_EQ(BypassingCall::world_rank(2, 3), 5);
  EXPECT_EQ(BypassingCall::world_rank(1, 2), -1);
}

// A library that calls itself, or is called by a communicator that books its messages, counts once.
TEST(Bypass, CountsTheOuterCallAlone) {
  Ledger ledger;
  const Witnessed witnessed(ledger, {0, 2, 5});
  {
    const BypassingCall outer("broadcast");
    outer.sends(1, 5);
    send(1000);
  }
  {
    const Booked booked;
    send(1000);
  }
  send(0);
  EXPECT_EQ(ledger.traffic().bytes_sent, 5);
  EXPECT_EQ(ledger.traffic().messages, 1);
  send(2);
  EXPECT_EQ(ledger.traffic().bytes_sent, 7);
}

// Threads of the only rank are its own; of several ranks nobody knows whose they are.
TEST(Bypass, OtherThreadsAreThoseOfTheOnlyRank) {
  Ledger only, other;
  const Witnessed witnessed(only, {0, 1});
  std::jthread([] { send(10); }).join();
  EXPECT_EQ(only.traffic().bytes_sent, 10);
  std::jthread([&] {
    const Witnessed second(other, {0, 1});
    std::jthread([] { send(100); }).join();
  }).join();
  EXPECT_EQ(only.traffic().bytes_sent + other.traffic().bytes_sent, 10);
}

TEST(Bypass, NobodyIsToldWhereNobodyIsWitnessed) {
  Ledger ledger;
  { const Witnessed witnessed(ledger, {0, 2, 5}); }
  EXPECT_FALSE(BypassingCall("send").counts());
  send(10);
  EXPECT_EQ(ledger.traffic().bytes_sent, 0);
}

}  // namespace
}  // namespace ringcheck
