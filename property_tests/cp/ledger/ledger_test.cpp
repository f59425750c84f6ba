// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/ledger.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <thread>

#include "cp/ledger/sign_of_life.h"

namespace ringcheck {
namespace {

using Direction = Transferred::Direction;

Attended block_in(Phase phase) {
  Attended block{};
  block.phase = phase;
  return block;
}

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

// A block counts once, whatever is under way, and only for what comes to the rank.
TEST(Ledger, ABlockIsOverlappedBetweenAPostingAndTheWait) {
  Ledger ledger;
  const auto attend = [&] { ledger.attended(block_in(Phase::kForward)); };
  const auto post = [&](Direction direction) { return ledger.transferred(direction, {"exchange", 1, 2}, 10); };
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    attend();  // nothing is posted
    const auto sent = post(Direction::kSent);
    attend();
    ledger.waits_for(sent);
    const auto first = post(Direction::kReceived), second = post(Direction::kReceived);
    attend();  // counts
    ledger.waits_for(first);
    attend();  // counts
    ledger.waits_for(second);
    ledger.complete(second);
    attend();
    ledger.waits_for(post(Direction::kReceived));
    attend();
  }
  EXPECT_EQ(ledger.sum(Phase::kForward).steps, 6);
  EXPECT_EQ(ledger.sum(Phase::kForward).overlapped, 2);
  EXPECT_EQ(ledger.sum(Phase::kBackward).overlapped, 0);
}

TEST(Ledger, AWaitCountsOnceAndNeverForAnotherPass) {
  Ledger ledger;
  std::optional<size_t> message;
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    message = ledger.transferred(Direction::kReceived, {"exchange", 1, 2}, 10);
    ledger.attended(block_in(Phase::kForward));
    ledger.waits_for(message);
    ledger.attended(block_in(Phase::kForward));
    ledger.waits_for(message);
  }
  {
    const Ledger::Scope scope(ledger, Phase::kBackward);
    ledger.attended(block_in(Phase::kBackward));
  }
  ledger.waits_for(std::nullopt);
  EXPECT_EQ(ledger.sum(Phase::kForward).overlapped, 1);
  EXPECT_EQ(ledger.sum(Phase::kBackward).overlapped, 0);
}

std::vector<std::string> said(const std::vector<Operation>& operations) {
  std::vector<std::string> list;
  for (const Operation& operation : operations) list.push_back(describe(operation));
  return list;
}

// Each message counts, sent or received; each operation is named once, in the order of its steps.
TEST(Ledger, NamesWhatNobodyWaitsFor) {
  Ledger ledger;
  const auto post = [&](Direction direction, const char* name, int step) {
    return ledger.transferred(direction, {name, step, 3}, 10);
  };
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    ledger.waits_for(post(Direction::kReceived, "exchange", 1));
    for (const int step : {10, 2, 2}) post(Direction::kReceived, "exchange", step);
    post(Direction::kSent, "exchange", 2);
    post(Direction::kSent, "another", 4);
    ledger.attended(block_in(Phase::kForward));
  }
  {
    const Ledger::Scope scope(ledger, Phase::kBackward);
    ledger.waits_for(post(Direction::kReceived, "exchange", 1));
    ledger.complete(post(Direction::kSent, "completed", 7));  // the host need not have waited
  }
  EXPECT_EQ(ledger.sum(Phase::kForward).unwaited, 5);
  EXPECT_EQ(said(ledger.unwaited(Phase::kForward)),
            (std::vector<std::string>{"another, step 4", "exchange, step 2", "exchange, step 10"}));
  EXPECT_EQ(ledger.sum(Phase::kForward).overlapped, std::nullopt);
  EXPECT_EQ(said(ledger.unwaited(Phase::kBackward)), std::vector<std::string>{"completed, step 7"});
  EXPECT_EQ(ledger.sum(Phase::kBackward).overlapped, 0);  // nothing came unseen
}

// That nobody is seen to wait for it is no fault.
TEST(Ledger, KnowsNothingOfWaitsForWhatGoesRoundTheCommunicators) {
  Ledger ledger;
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    ledger.bypassed(Direction::kSent, {"send", -1, 2}, 10);
    ledger.attended(block_in(Phase::kForward));
  }
  EXPECT_EQ(ledger.sum(Phase::kForward).overlapped, 0);
  {
    const Ledger::Scope scope(ledger, Phase::kBackward);
    ledger.bypassed(Direction::kReceived, {"receive", -1, 2}, 10);
  }
  EXPECT_EQ(ledger.sum(Phase::kBackward).overlapped, std::nullopt);
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    EXPECT_EQ(ledger.sum(phase).unwaited, 0);
    EXPECT_TRUE(ledger.unwaited(phase).empty());
  }
  EXPECT_EQ(ledger.traffic().bytes_received, 10);
}

// Each head of a block has as many pairs; what is of no head of the model is left out.
TEST(Ledger, CountsPairsByHead) {
  Ledger ledger;
  const auto attend = [&](HeadRange heads, int64_t pairs) {
    Attended block = block_in(*ledger.phase());
    block.heads = heads;
    block.pairs = pairs;
    ledger.attended(block);
  };
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    attend({0, 2}, 20);
    attend({1, 2}, 6);
    attend({}, 100);
    attend({-1, 2}, 1000);
    attend({3, 2}, 8);
  }
  {
    const Ledger::Scope scope(ledger, Phase::kBackward);
    attend({2, 1}, 5);
  }
  EXPECT_EQ(ledger.pairs_by_head(Phase::kForward, 4), (std::vector<int64_t>{510, 13, 3, 4}));
  EXPECT_EQ(ledger.pairs_by_head(Phase::kBackward, 3), (std::vector<int64_t>{0, 0, 5}));
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

// Traffic is that of the whole call: what goes outside the phases counts, and no restart hides it.
TEST(Ledger, TrafficCountsWhatTheEventsDoNot) {
  Ledger ledger;
  ledger.transferred(Direction::kSent, {"exchange", 1, 2}, 10);
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    ledger.transferred(Direction::kReceived, {"exchange", 1, 3}, 300);
  }
  ledger.restart();
  const Traffic before = ledger.traffic();
  EXPECT_EQ(before.bytes_sent, 10);
  EXPECT_EQ(before.bytes_received, 300);
  EXPECT_EQ(before.messages, 1);
  ledger.transferred(Direction::kSent, {"exchange", 1, 2}, 7);
  const Traffic added = ledger.traffic().since(before);
  EXPECT_EQ(added.bytes_sent, 7);
  EXPECT_EQ(added.bytes_received, 0);
  EXPECT_EQ(added.messages, 1);
  EXPECT_EQ(added.peers.at(2).sent, 7);
  EXPECT_EQ(added.peers.at(3).received, 0);
}

// What is held counts from the beginning of the forward pass, at the moments it is asked for.
TEST(Ledger, TakesStock) {
  Ledger ledger;
  const Metered metered(ledger.memory());
  const at::Tensor before = at::empty({1000}, at::kByte);
  at::Tensor kept;
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    kept = at::empty({10}, at::kByte);
    const at::Tensor held = at::empty({200}, at::kByte);
    ledger.take_stock();
    const at::Tensor between_looks = at::empty({4000}, at::kByte);
  }
  ledger.take_stock();  // in no phase
  {
    const Ledger::Scope scope(ledger, Phase::kBackward);
    ledger.take_stock();
    kept.reset();
  }
  EXPECT_EQ(ledger.stock(Phase::kForward), (Stock{210, 10, {210, 4210, 0, 0}}));
  EXPECT_EQ(ledger.stock(Phase::kBackward), (Stock{10, 0, {10, 10, 0, 0}}));
  ledger.restart();
  EXPECT_EQ(ledger.stock(Phase::kForward), Stock{});
}

// What comes and goes is counted in the stage in which it does.
TEST(Ledger, TellsTheStagesApart) {
  Ledger ledger;
  const Metered metered(ledger.memory());
  const auto come_and_go = [](int64_t bytes) { return at::empty({bytes}, at::kByte).numel(); };
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    come_and_go(1000);
    for (const int64_t step : {1, 3, 2}) {
      ledger.take_stock();
      come_and_go(200 * step);
      ledger.attended({Phase::kForward, {}, {}, {}, 0, 0, {}, {}});
      come_and_go(30 * step);
    }
    ledger.finishing();
    come_and_go(4);
  }
  come_and_go(100000);  // in no phase
  EXPECT_EQ(ledger.stock(Phase::kForward), (Stock{0, 0, {1000, 600, 90, 4}}));
  EXPECT_EQ(ledger.stock(Phase::kBackward), Stock{});
}

// Long work says that it goes on, to the ledger of the rank that does it, and to nobody afterwards.
TEST(SignOfLife, EntersTheCurrentOperationAgain) {
  Ledger ledger;
  std::vector<std::string> heard;
  ledger.observe([&](const Operation& operation) { heard.emplace_back(operation.name); });
  ledger.enter({"attend"});
  sign_of_life();
  {
    const Heard listening(ledger);
    sign_of_life();
    std::thread([] { sign_of_life(); }).join();
  }
  sign_of_life();
  EXPECT_EQ(heard, (std::vector<std::string>{"attend", "attend"}));
}

}  // namespace
}  // namespace ringcheck
