// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Samples that were taken while a device was held back: here the CPU, of which this test says when.
#include "bench/scaling/samples.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "property_tests/cp/attention/passes.h"

namespace ringcheck::bench {
namespace {

thread_local std::function<std::optional<bool>()> says;  // of the rank of this thread

const HeldBack::Add registered{"cpu", [](c10::Device) { return says ? says() : std::nullopt; }};

struct Taken {
  std::vector<int> kept;
  std::optional<int64_t> thrown_away;
  int taken = 0;
  bool operator==(const Taken&) const = default;
};

// Of four that are wanted, on three ranks, of which rank 1 alone is held back while it takes some.
std::vector<Taken> taken(const std::function<std::optional<bool>(int sample)>& held_back) {
  return on_every_rank(3, [&](Communicator& comm) {
    Taken result;
    says = [&]() -> std::optional<bool> {
      return comm.rank() == 1 ? held_back(result.taken) : std::optional(false);
    };
    Samples samples(comm, 4);
    result.kept = samples.of([&](int which) { return ++result.taken * 10 + which; });
    result.thrown_away = samples.thrown_away();
    says = nullptr;
    return result;
  });
}

TEST(Samples, AreKeptWhereNothingIsHeldBack) {
  for (const Taken& rank : taken([](int) { return false; })) EXPECT_EQ(rank, (Taken{{10, 21, 32, 43}, 0, 4}));
}

// Where one rank is held back, all throw the sample away and take it again.
TEST(Samples, AreTakenAgainOnAllRanksWhereOneIsHeldBack) {
  for (const Taken& rank : taken([](int sample) { return sample == 2 || sample == 3; }))
    EXPECT_EQ(rank, (Taken{{10, 41, 52, 63}, 2, 6}));
}

// What is always held back is measured all the same, and says so.
TEST(Samples, AreKeptInTheEnd) {
  for (const Taken& rank : taken([](int) { return true; })) EXPECT_EQ(rank, (Taken{{50, 61, 72, 83}, 4, 8}));
}

TEST(Samples, SayNothingWhereNobodyKnows) {
  const auto wrong = on_every_rank(2, [](Communicator& comm) {
    Samples samples(comm, 2);
    samples.of([](int which) { return which; });
    return samples.thrown_away().has_value() ? 1 : 0;
  });
  EXPECT_EQ(wrong, std::vector<int>(2, 0));
}

}  // namespace
}  // namespace ringcheck::bench
