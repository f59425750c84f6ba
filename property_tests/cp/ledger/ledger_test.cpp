// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/ledger.h"

#include <gtest/gtest.h>

namespace ringcheck {
namespace {

using Direction = Transferred::Direction;

// In a ring a rank sends as much as it receives: only unequal transfers tell the two apart.
TEST(Ledger, SentIsNotReceived) {
  Ledger ledger;
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    ledger.transferred(Direction::kSent, {"exchange", 1, 2}, 10);
    ledger.transferred(Direction::kReceived, {"exchange", 1, 3}, 300);
    ledger.transferred(Direction::kReceived, {"exchange", 2, 3}, 4000);
  }
  const Counters forward = ledger.sum(Phase::kForward), backward = ledger.sum(Phase::kBackward);
  EXPECT_EQ(forward.bytes_sent, 10);
  EXPECT_EQ(forward.bytes_received, 4300);
  EXPECT_EQ(forward.messages, 1);
  EXPECT_EQ(backward.bytes_sent + backward.bytes_received + backward.messages, 0);
}

TEST(Ledger, ARestartForgetsEverything) {
  Ledger ledger;
  {
    const Ledger::Scope scope(ledger, Phase::kBackward);
    ledger.transferred(Direction::kSent, {"exchange", 1, 2}, 10);
    ledger.merged();
  }
  EXPECT_EQ(ledger.sum(Phase::kBackward).merges, 1);
  ledger.restart();
  const Counters after = ledger.sum(Phase::kBackward);
  EXPECT_EQ(after.bytes_sent, 0);
  EXPECT_EQ(after.messages, 0);
  EXPECT_EQ(after.merges, 0);
}

}  // namespace
}  // namespace ringcheck
