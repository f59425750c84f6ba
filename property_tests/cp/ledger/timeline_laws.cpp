// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/timeline.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "property_tests/cp/attention/passes.h"
#include "property_tests/parity/case/generators.h"

// What each rank did, in order of time.
namespace ringcheck {
namespace {

using What = Event::What;

std::vector<Event> of(const Timeline& timeline, Phase phase) {
  std::vector<Event> events;
  std::ranges::copy_if(timeline.events, std::back_inserter(events),
                       [&](const Event& event) { return event.phase == phase; });
  return events;
}

std::vector<Event> of(const std::vector<Event>& all, What what) {
  std::vector<Event> events;
  std::ranges::copy_if(all, std::back_inserter(events),
                       [&](const Event& event) { return event.what == what; });
  return events;
}

int64_t sum(const std::vector<Event>& events, int64_t Event::*figure) {
  int64_t total = 0;
  for (const Event& event : events) total += event.*figure;
  return total;
}

double seconds(const std::optional<int64_t>& nanoseconds) {
  return nanoseconds ? static_cast<double>(*nanoseconds) / 1e9 : Seconds::kUnknown;
}

std::vector<Stretch> stretches(const std::vector<Event>& events) {
  std::vector<Stretch> list;
  for (const Event& event : events) list.push_back({seconds(event.begin), seconds(event.end)});
  return list;
}

std::vector<Timeline> timelines(const Pass& pass) {
  std::vector<Timeline> list;
  for (const RankPass& rank : pass.ranks) {
    rank.ledger->settle();
    list.push_back(timeline_of(*rank.ledger));
  }
  return list;
}

// Each time of an event is rounded to the nanosecond; a sum over the ledger's own times is not.
double rounding(size_t events) { return 1e-9 * static_cast<double>(events + 1); }

bool equal(double a, double b, double tolerance) {
  return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance;
}

// What was counted and timed of a pass is what its events add up to, exposed communication as well.
RC_GTEST_PROP(Timeline, AddsUpToTheSumsOfTheLedger, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const Pass pass = run_pass(test);
  std::vector<Timeline> ranks = timelines(pass);
  align(ranks);
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
      const Counters counted = pass.ranks[rank].ledger->sum(phase);
      const std::vector<Event> events = of(ranks[rank], phase);
      const auto attended = of(events, What::kAttend), sent = of(events, What::kSend),
                 received = of(events, What::kReceive);
      RC_ASSERT(static_cast<int64_t>(attended.size()) == counted.steps);
      RC_ASSERT(static_cast<int64_t>(of(events, What::kMerge).size()) == counted.merges);
      RC_ASSERT(static_cast<int64_t>(sent.size()) == counted.messages);
      RC_ASSERT(sum(attended, &Event::pairs) == counted.pairs);
      RC_ASSERT(sum(attended, &Event::flops) == counted.flops);
      RC_ASSERT(sum(sent, &Event::bytes) == counted.bytes_sent);
      RC_ASSERT(sum(received, &Event::bytes) == counted.bytes_received);
      const Seconds timed = pass.ranks[rank].ledger->seconds(phase),
                    drawn = seconds_of(stretches(attended), stretches(received));
      for (const auto part : {&Seconds::attention, &Seconds::communication, &Seconds::exposed,
                              &Seconds::overlapped})
        RC_ASSERT(equal(drawn.*part, timed.*part, rounding(events.size())));
    }
}

// A rank attends one block after the other, and merges what it has attended.
RC_GTEST_PROP(Timeline, IsInTheOrderInWhichThingsHappen, ()) {
  const parity::Case test = *gen::test_case().as("case");
  std::vector<Timeline> ranks = timelines(run_pass(test));
  align(ranks);
  for (const Timeline& rank : ranks)
    for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
      const std::vector<Event> events = of(rank, phase);
      const auto attended = of(events, What::kAttend), merged = of(events, What::kMerge);
      for (const Event& event : events) {
        RC_ASSERT((!event.begin || *event.begin >= 0));
        RC_ASSERT((!event.begin || !event.end || *event.begin <= *event.end));
      }
      for (size_t i = 0; i < attended.size(); ++i) {
        RC_ASSERT(attended[i].begin.has_value());
        RC_ASSERT((i == 0 || *attended[i - 1].end <= *attended[i].begin));
      }
      for (size_t i = 0; i < merged.size(); ++i) {
        RC_ASSERT(*merged[i].end >= *attended[i + 1].end);
        RC_ASSERT((i + 2 >= attended.size() || *merged[i].end <= *attended[i + 2].begin));
      }
    }
}

// On a CPU no message is there before it was posted, by whichever rank: their clocks are one.
RC_GTEST_PROP(Timeline, OfRanksOfOneMachineIsOnOneClock, ()) {
  if (test_device_type() != at::kCPU) return;
  const parity::Case test = *gen::test_case().as("case");
  std::vector<Timeline> ranks = timelines(run_pass(test));
  align(ranks);
  for (const Phase phase : {Phase::kForward, Phase::kBackward})
    for (size_t to = 0; to < ranks.size(); ++to) {
      std::vector<size_t> taken(ranks.size(), 0);  // messages of a pair match in their order
      for (const Event& received : of(of(ranks[to], phase), What::kReceive)) {
        std::vector<Event> sent = of(of(ranks[received.peer], phase), What::kSend);
        std::erase_if(sent, [&](const Event& event) { return event.peer != static_cast<int>(to); });
        const size_t which = taken[received.peer]++;
        RC_ASSERT(which < sent.size());
        RC_ASSERT(sent[which].bytes == received.bytes);
        RC_ASSERT(*sent[which].begin <= *received.end);
      }
    }
}

Event event(What what, Phase phase, int64_t begin, int64_t end) { return {what, phase, begin, end}; }

TEST(Timeline, CountsFromTheFirstEventOfEachPassAndMachine) {
  std::vector<Timeline> ranks{
      {"a", {event(What::kAttend, Phase::kForward, 50, 60), event(What::kAttend, Phase::kBackward, 90, 95)}},
      {"a", {event(What::kAttend, Phase::kForward, 40, 70), {What::kSend, Phase::kForward}}},
      {"b", {event(What::kAttend, Phase::kForward, 7, 8)}}};
  align(ranks);
  EXPECT_EQ(ranks[0].events[0], event(What::kAttend, Phase::kForward, 10, 20));
  EXPECT_EQ(ranks[0].events[1], event(What::kAttend, Phase::kBackward, 0, 5));
  EXPECT_EQ(ranks[1].events[0], event(What::kAttend, Phase::kForward, 0, 30));
  EXPECT_FALSE(ranks[1].events[1].begin);
  EXPECT_EQ(ranks[2].events[0], event(What::kAttend, Phase::kForward, 0, 1));
}

// A ledger that was told of events by hand: in the order of their beginnings, the unknown last.
TEST(Timeline, OfALedger) {
  Ledger ledger;
  {
    const Ledger::Scope scope(ledger, Phase::kBackward);
    ledger.complete(ledger.transferred(Transferred::Direction::kReceived, {"exchange", 2, 1}, 8),
                    {2, {}}, {3, {}});
    ledger.transferred(Transferred::Direction::kSent, {"lost", -1, 3}, 9, {Seconds::kUnknown, {}});
    ledger.attended({Phase::kBackward, {}, {}, {}, 5, 6, {1, {}}, {4, {}}});
  }
  std::vector<Timeline> ranks{timeline_of(ledger)};
  align(ranks);
  ASSERT_EQ(ranks[0].events.size(), 3U);
  EXPECT_EQ(ranks[0].events[0], (Event{What::kAttend, Phase::kBackward, 0, 3000000000, 5, 6}));
  EXPECT_EQ(ranks[0].events[1], (Event{What::kReceive, Phase::kBackward, 1000000000, 2000000000, 0,
                                       0, 8, 2, 1, "exchange"}));
  EXPECT_EQ(ranks[0].events[2],
            (Event{What::kSend, Phase::kBackward, {}, {}, 0, 0, 9, -1, 3, "lost"}));
}

RC_GTEST_PROP(Timeline, ComesBackFromItsText, ()) {
  Timeline timeline{"of a machine", {}};
  for (int64_t i = *gen::between(0, 6).as("events"); i > 0; --i) {
    Event one{static_cast<What>(*gen::between(0, 3)), *gen::flag() ? Phase::kForward : Phase::kBackward};
    if (*gen::flag()) one.begin = *gen::between(0, int64_t{1} << 60);
    if (*gen::flag()) one.end = *gen::between(-5, 5);
    one.bytes = *gen::between(0, 1000);
    one.step = static_cast<int>(*gen::between(-1, 7));
    one.peer = static_cast<int>(*gen::between(-1, 7));
    if (*gen::flag()) one.operation = "gradients home";
    timeline.events.push_back(one);
  }
  RC_ASSERT((timeline_from(text_of(timeline)) == timeline));
  RC_ASSERT_THROWS_AS(timeline_from("clock\n1 2\n"), std::invalid_argument);
}

TEST(Timeline, KnowsNoOtherEventsOrPasses) {
  const auto events_of = [](const std::string& what, const std::string& phase) {
    return timeline_from("clock\n" + what + " " + phase + " - - 0 0 0 -1 -1 \n").events.size();
  };
  for (const char* what : {"0", "3"})
    for (const char* phase : {"0", "1"}) EXPECT_EQ(events_of(what, phase), 1U);
  for (const char* what : {"-1", "4", "x"}) EXPECT_THROW(events_of(what, "0"), std::invalid_argument);
  for (const char* phase : {"-1", "2", "x"}) EXPECT_THROW(events_of("0", phase), std::invalid_argument);
}

}  // namespace
}  // namespace ringcheck
