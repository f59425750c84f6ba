// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "cp/device/delay.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"

// Where the time of a pass goes: attention, communication, and what of it is exposed.
namespace ringcheck {
namespace {

using namespace std::chrono_literals;

std::vector<Stretch> stretches() {
  std::vector<Stretch> list;
  const int64_t n = *gen::between(0, 6).as("stretches");
  for (int64_t i = 0; i < n; ++i) {
    const auto begin = static_cast<double>(*gen::between(0, 30).as("begin"));
    list.push_back({begin, begin + static_cast<double>(*gen::between(0, 9).as("length"))});
  }
  return list;
}

bool at_work(const std::vector<Stretch>& list, double time) {
  const auto covers = [&](const Stretch& s) { return s.begin < time && time < s.end; };
  return std::ranges::any_of(list, covers);
}

// Tick by tick: the definition.
RC_GTEST_PROP(Seconds, AreCountedTickByTick, ()) {
  const auto attention = stretches(), messages = stretches();
  double work = 0, moved = 0, exposed = 0, overlapped = 0;
  for (double tick = 0.5; tick < 40; ++tick) {
    const bool works = at_work(attention, tick), moves = at_work(messages, tick);
    work += works;
    moved += moves;
    exposed += moves && !works;
    overlapped += moves && works;
  }
  const Seconds seconds = seconds_of(attention, messages);
  RC_ASSERT(seconds.attention == work);
  RC_ASSERT(seconds.communication == moved);
  RC_ASSERT(seconds.exposed == exposed);
  RC_ASSERT(seconds.overlapped == overlapped);
}

TEST(Seconds, OfKnownStretches) {
  const Seconds seconds = seconds_of({{0, 10}, {12, 20}}, {{1, 3}, {2, 4}, {9, 13}, {30, 31}});
  EXPECT_EQ(seconds.attention, 18);
  EXPECT_EQ(seconds.communication, 3 + 4 + 1);
  EXPECT_EQ(seconds.exposed, 2 + 1);
  EXPECT_EQ(seconds.overlapped, 3 + 2);
}

// A time that nobody read makes no figure.
TEST(Seconds, WhatIsNotKnownIsNan) {
  const Seconds seconds = seconds_of({{0, 1}}, {{0, Seconds::kUnknown}});
  EXPECT_EQ(seconds.attention, 1);
  EXPECT_TRUE(std::isnan(seconds.communication));
  EXPECT_TRUE(std::isnan(seconds.exposed));
  EXPECT_TRUE(std::isnan(seconds.overlapped));
}

// A ledger that was told of events by hand.
TEST(Seconds, OfALedgerAreThoseOfThePhaseAndOfWhatItReceives) {
  Ledger ledger;
  const auto message = [&](Transferred::Direction direction, double begin, double end) {
    const auto entry = ledger.transferred(direction, {"test", 0, 1}, 8);
    ledger.complete(entry, {begin, {}}, {end, {}});
  };
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    ledger.attended({Phase::kForward, {}, {}, {}, 1, 1, {1, {}}, {3, {}}});
    message(Transferred::Direction::kReceived, 2, 6);
    message(Transferred::Direction::kSent, 0, 100);
  }
  {
    const Ledger::Scope scope(ledger, Phase::kBackward);
    message(Transferred::Direction::kReceived, 50, 51);
  }
  const Seconds forward = ledger.seconds(Phase::kForward);
  EXPECT_EQ(forward.attention, 2);
  EXPECT_EQ(forward.communication, 4);
  EXPECT_EQ(forward.exposed, 3);
  EXPECT_EQ(forward.overlapped, 1);
  const Seconds backward = ledger.seconds(Phase::kBackward);
  EXPECT_EQ(backward.attention, 0);
  EXPECT_EQ(backward.exposed, 1);
}

// A kernel that takes its time, on the device.
class Slow final : public AttentionKernel {
 public:
  explicit Slow(std::shared_ptr<const AttentionKernel> inner) : inner_(std::move(inner)) {}
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    return inner_->refuses(shape);
  }
  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    linger(q.q.device(), 20ms);
    return inner_->forward(q, kv, scores, visibility);
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    linger(q.q.device(), 30ms);
    return inner_->backward(q, kv, saved, scores, visibility);
  }
  CallBytes call_bytes(const BlockShape& shape) const override {
    return inner_->call_bytes(shape);
  }

 private:
  std::shared_ptr<const AttentionKernel> inner_;
};

// Every kernel call of 20 and 30 ms is seen, on the clock of the device; every message that a ring
// posts before a kernel is under way while it computes, or is copied beside it.
RC_GTEST_PROP(Seconds, SeeWhatTakesTime, ()) {
  const auto world = static_cast<int>(*gen::between(1, 3).as("world"));
  parity::Case test = parity::parse_case("contiguous/full/hq1/hkv1/s12/d8/float32/P" +
                                         std::to_string(world));
  test.arguments = ":" + *gen::name_of<Rotations>().as("rotation");
  test.device = test_device_name();
  test.kernel = plainest_kernel(test_device_type());
  const auto seconds = on_every_rank(world, [&](Communicator& comm) {
    ContextParallel::Options options = options_of(test);
    options.plan.kernel = std::make_shared<Slow>(options.plan.kernel);
    const parity::Problem p = local_problem(test, parity::problem_of(test),
                                            parity::layout_of(test).queries[comm.rank()], 0);
    ContextParallel attention(comm, options);
    auto context = attention.forward(p.q, p.k, p.v);
    attention.backward(context, p.d_o);
    return std::pair{comm.ledger().seconds(Phase::kForward),
                     comm.ledger().seconds(Phase::kBackward)};
  });
  for (const auto& [forward, backward] : seconds) {
    RC_ASSERT(forward.attention >= 0.0199 * world);
    RC_ASSERT(backward.attention >= 0.0299 * world);
    for (const Seconds& s : {forward, backward}) {
      RC_ASSERT(s.exposed >= 0);
      RC_ASSERT(s.overlapped >= 0);
      RC_ASSERT(std::abs(s.exposed + s.overlapped - s.communication) <= 1e-9);
      RC_ASSERT((world == 1 ? s.communication == 0 : s.communication > 0));
    }
    // Posted before the kernel is called, seen complete after it.
    if (test_device_type() == at::kCPU && test.arguments != ":allgather")
      RC_ASSERT(forward.overlapped >= 0.0199 * (world - 1));
  }
}

}  // namespace
}  // namespace ringcheck
