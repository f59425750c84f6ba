// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "property_tests/cp/attention/passes.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// Messages are under way while blocks are attended: no result shows where one is waited for too early.
namespace ringcheck {
namespace {

// Blocks during all of whose attention a message to the rank was under way, by the times of the events.
int64_t timed(const Ledger& ledger, Phase phase) {
  return std::ranges::count_if(ledger.attentions(), [&](const Attended& block) {
    return block.phase == phase && std::ranges::any_of(ledger.transfers(), [&](const Transferred& message) {
             return message.direction == Transferred::Direction::kReceived && message.phase == phase &&
                    message.begin <= block.begin && message.end >= block.end;
           });
  });
}

struct Overlapped {
  std::optional<int64_t> forward = 0, backward = 0;
  bool operator==(const Overlapped&) const = default;
};

parity::Case drawn(const std::string& strategy, const std::vector<std::string>& arguments) {
  parity::Case test = *gen::test_case().as("case");
  test.strategy = strategy;
  test.arguments = *gen::choice<std::string>(arguments).as("arguments");
  test.world = *gen::choice<int>({2, 3, 5, 7, 8}).as("world");
  if (parity::not_supported(test)) test.kernel = plainest_kernel(parity::device_type_of(test));
  return test;
}

// On a CPU a message ends where the rank waits for it, so that the times say the same.
template <class Expected>
void every_rank_overlaps(const parity::Case& test, const Expected& expected) {
  RC_PRE(!parity::not_supported(test));
  for (const RankPass& rank : run_pass(test).ranks) {
    const Ledger& ledger = *rank.ledger;
    const Overlapped known = expected(ledger);
    const Overlapped counted{ledger.sum(Phase::kForward).overlapped, ledger.sum(Phase::kBackward).overlapped};
    RC_ASSERT(counted == known);
    if (test_device_type() != at::kCPU) continue;
    const Overlapped by_times{timed(ledger, Phase::kForward), timed(ledger, Phase::kBackward)};
    RC_ASSERT(by_times == known);
  }
}

// The next block is under way while one is attended (Liu et al., Ring Attention, section 3); in the
// last step of a backward pass there is none, but the gradients of the block before.
RC_GTEST_PROP(Overlap, ABlockGoesRoundWhileOneIsAttended, ()) {
  const parity::Case test = drawn("ring", {":p2p", ":alltoall"});
  every_rank_overlaps(test, [&](const Ledger&) { return Overlapped{test.world - 1, test.world}; });
}

// All blocks are there before the first is attended; gradients go home while the next but one to
// them is computed.
RC_GTEST_PROP(Overlap, GradientsGoStraightHomeWhileOthersAreComputed, ()) {
  const parity::Case test = drawn("ring", {":allgather", ":allgather[keep]"});
  every_rank_overlaps(test, [&](const Ledger&) { return Overlapped{0, test.world - 2}; });
}

// The next group of heads is under way while one is attended, and the gradients of the one before.
RC_GTEST_PROP(Overlap, AGroupOfHeadsIsGatheredWhileOneIsAttended, ()) {
  const parity::Case test = drawn("gathered", {""});
  every_rank_overlaps(test, [](const Ledger& ledger) {
    const int64_t groups = ledger.sum(Phase::kForward).steps;
    return Overlapped{groups - 1, groups > 1 ? groups : 0};
  });
}

// Of one group every message is there before its heads are attended; of several the next one is under
// way while one is attended, or what came of the one before.
RC_GTEST_PROP(Overlap, AGroupOfHeadsComesWhileOneIsAttended, ()) {
  parity::Case test = drawn("ulysses", {"", "[2]", "[3]"});
  parity::deal_heads(test);
  every_rank_overlaps(test, [](const Ledger& ledger) {
    const int64_t groups = ledger.sum(Phase::kForward).steps, overlapped = groups > 1 ? groups : 0;
    return Overlapped{overlapped, overlapped};
  });
}

}  // namespace
}  // namespace ringcheck
