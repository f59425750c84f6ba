// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/tally.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

#include "parity/judge/comparison.h"
#include "parity/judge/devices/on_devices.h"
#include "parity/judge/elements/same_tally.h"
#include "parity/judge/sampling.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/test_device.h"

namespace ringcheck::parity {
namespace {

Compared narrowed(const Compared& whole, int64_t begin, int64_t size) {
  const auto part = [&](const at::Tensor& x) { return x.narrow(0, begin, size); };
  return {part(whole.actual), part(whole.value), part(whole.bound), part(whole.sigma),
          whole.first_pair + begin, whole.positions};
}

void expect_close(const std::vector<double>& a, const std::vector<double>& b) {
  RC_ASSERT(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i)
    RC_ASSERT(std::abs(a[i] - b[i]) <= 1e-12 * (1 + std::abs(a[i])));
}

// However a tensor is cut into runs of pairs, the tallies add up to that of the whole, and name the
// same worst element.
RC_GTEST_PROP(Tally, PartsAddUp, ()) {
  const int64_t pairs = *gen::between(1, 6).as("pairs"), slots = *gen::between(1, 9).as("slots");
  const int64_t first = *gen::between(0, pairs - 1).as("size of the first part");
  const uint64_t seed = *gen::seed();
  const at::Tensor value = normal({pairs, 2, slots, 3}, seed, at::kDouble);
  const at::Tensor bound = normal({pairs, 2, slots, 3}, seed + 1, at::kDouble).abs();
  const at::Tensor actual = value + bound * normal({pairs, 2, slots, 3}, seed + 2, at::kDouble) * 8;
  const Compared whole{actual, value, bound, bound / 3, 5, drawn_positions(20, slots, seed)};

  const Tally all = tally(whole, 20);
  Tally sum;
  if (first > 0)
    sum.add(tally(narrowed(whole, 0, first), 20));
  sum.add(tally(narrowed(whole, first, pairs - first), 20));

  RC_ASSERT(sum.max_abs == all.max_abs);
  RC_ASSERT(sum.hard_ratio == all.hard_ratio);
  RC_ASSERT(sum.max_z == all.max_z);
  RC_ASSERT(sum.hard.pair == all.hard.pair && sum.hard.position == all.hard.position);
  RC_ASSERT(sum.stat.pair == all.stat.pair && sum.stat.actual == all.stat.actual);
  expect_close({sum.z_squares, sum.error_squares, sum.value_squares},
               {all.z_squares, all.error_squares, all.value_squares});
  expect_close(sum.elements, all.elements);
  expect_close(sum.signed_z, all.signed_z);
  expect_close(sum.energy, all.energy);
  expect_close(sum.vacuous, all.vacuous);
}

// The worst element is named by pair, head, position and channel.
TEST(Tally, NamesTheWorstElement) {
  const at::Tensor value = at::ones({2, 3, 4, 5}, at::kDouble), bound = value * 1e-3;
  at::Tensor actual = value.clone();
  actual[1][2][3][4] = NAN;
  const Tally t = tally({actual, value, bound, bound, 7, {10, 20, 30, 31}}, 32);
  EXPECT_EQ(t.hard_ratio, INFINITY);
  EXPECT_EQ(t.hard.pair, 8);
  EXPECT_EQ(t.hard.shared, 2);
  EXPECT_EQ(t.hard.position, 31);
  EXPECT_EQ(t.hard.channel, 4);
  EXPECT_TRUE(std::isnan(t.hard.actual));
  EXPECT_EQ(t.worst_position, 31);
}

// Also of one that passes, and of a tensor without channels.
TEST(Tally, NamesThePositionOfTheLargestZ) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 3, 4, 5}, {2, 3, 4}}) {
    const at::Tensor value = at::ones(sizes, at::kDouble), actual = value.clone();
    actual[1][2][1].fill_(1.5);
    const Tally t = tally({actual, value, value, value, 7, {10, 20, 30, 31}}, 32);
    EXPECT_EQ(t.worst_position, 20);
    EXPECT_EQ(t.max_z, 0.5);
    EXPECT_EQ(t.stat.ratio, 0);  // nobody need be told which element
  }
}

// An element that is off by exactly what is allowed is none that anybody need be told of; without any
// error no position is the worst.
TEST(Tally, NamesNothingOnItsLimits) {
  const at::Tensor value = at::ones({1, 1, 1, 1}, at::kDouble), sigma = value, bound = value * kStat / kHard;
  const auto off_by = [&](double error) { return tally({value + error, value, bound, sigma, 0, {0}}, 1); };
  const Tally on = off_by(kStat), beyond = off_by(kStat + 0.5);
  EXPECT_EQ(on.hard_ratio, kHard);
  EXPECT_EQ(on.max_z, kStat);
  EXPECT_EQ(on.hard.ratio, 0);
  EXPECT_EQ(on.stat.ratio, 0);
  EXPECT_EQ(on.worst_position, 0);
  EXPECT_EQ(beyond.hard.ratio, beyond.hard_ratio);
  EXPECT_EQ(beyond.stat.ratio, kStat + 0.5);
  EXPECT_EQ(off_by(0).worst_position, -1);
}

// Of equal errors in two parts the first is named, as within one.
TEST(Tally, NamesTheFirstOfEqualErrors) {
  const at::Tensor value = at::ones({1, 1, 1, 1}, at::kDouble);
  const auto part = [&](int64_t pair, int64_t position) {
    return tally({value + 3 * kStat, value, value, value, pair, {position}}, 9);
  };
  Tally sum = part(2, 7);
  sum.add(part(3, 4));
  EXPECT_EQ(sum.worst_position, 7);
  EXPECT_EQ(sum.hard.pair, 2);
  EXPECT_EQ(sum.hard.position, 7);
  EXPECT_EQ(sum.stat.pair, 2);
  EXPECT_EQ(sum.stat.position, 7);
}

// On the device of the tests as on the CPU.
RC_GTEST_PROP(Tally, IsTheSameOnTheDevice, ()) {
  RC_ASSERT(tally_difference(test_device(), *gen::seed()) == std::nullopt);
}

// What is equal differs by nothing, be it infinite; what is not a number differs infinitely; where no
// error is allowed, any is infinitely too much; and where sigma is 0, nothing is counted.
TEST(Tally, KnowsWhatIsNotFinite) {
  const auto one = [](double actual, double value, double bound, double sigma) {
    const auto element = [](double x) { return at::full({1, 1, 1, 1}, x, at::kDouble); };
    return tally({element(actual), element(value), element(bound), element(sigma), 0, {0}}, 1);
  };
  EXPECT_EQ(one(-INFINITY, -INFINITY, 0, 0).hard_ratio, 0);
  EXPECT_EQ(one(-INFINITY, -INFINITY, 0, 0).error_squares, 0);
  EXPECT_EQ(one(NAN, 1, 1, 1).hard_ratio, INFINITY);
  EXPECT_EQ(one(NAN, 1, 1, 1).max_z, INFINITY);
  EXPECT_EQ(one(1, 1, 0, 0).hard_ratio, 0);
  EXPECT_EQ(one(2, 1, 0, 0).hard_ratio, INFINITY);
  EXPECT_EQ(one(2, 1, 1, 0).elements[0], 0);
  EXPECT_EQ(one(2, 1, 1, 0).compared[0], 1);
  EXPECT_EQ(one(2, -4, 1, 0.5).max_z, 12);
  EXPECT_EQ(one(2, -4, 1, 0.5).signed_z[0], -12);
  EXPECT_EQ(one(2, -4, 1, 0.5).vacuous[0], 16);
  EXPECT_EQ(one(2, -4.1, 1, 0.5).vacuous[0], 0);
}

// A sample has as many positions as asked for, all different, inside and in order.
RC_GTEST_PROP(Sampling, DrawsDifferentPositions, ()) {
  const int64_t length = *gen::between(1, 50).as("length"), count = *gen::between(0, 60).as("count");
  const uint64_t seed = *gen::seed();
  const std::vector<int64_t> drawn = drawn_positions(length, count, seed);
  RC_ASSERT(static_cast<int64_t>(drawn.size()) == std::min(length, count));
  for (size_t i = 0; i < drawn.size(); ++i)
    RC_ASSERT(0 <= drawn[i] && drawn[i] < length && (i == 0 || drawn[i - 1] < drawn[i]));
  RC_ASSERT(drawn == drawn_positions(length, count, seed));
}

// Every position is drawn as often as any other: 20000 samples of 5 of 20, five standard deviations.
TEST(Sampling, IsFair) {
  std::vector<int> times(20, 0);
  for (uint64_t seed = 0; seed < 20000; ++seed)
    for (const int64_t position : drawn_positions(20, 5, seed)) ++times[position];
  for (const int count : times) EXPECT_NEAR(count, 5000, 5 * std::sqrt(20000 * 0.25 * 0.75));
}

// A rank of which the sample has no position was judged by nobody; one whose elements are all known in every bit, exactly.
TEST(Sampling, ARankWithoutASampledPositionIsNobodys) {
  using enum JudgedBy;
  const Case test = parse_case("contiguous/full/P3/b1/hq1/hkv1/s6/d4/float64");
  const at::Tensor value = at::ones({1, 1, 2, 4}, at::kDouble), zero = at::zeros_like(value);
  const auto verdict = judge(test, "dq", {.tally = tally({zero, zero, zero, zero, 0, {0, 5}}, 6)});
  EXPECT_EQ(verdict.judged_by, (std::vector{kExact, kNobody, kExact}));
  const auto bounded = judge(test, "o", {.tally = tally({value, value, value / 1e6, value / 1e7, 0, {0, 5}}, 6)});
  EXPECT_EQ(bounded.judged_by, (std::vector{kBounded, kNobody, kBounded}));
}

TEST(Sampling, SaysWhatItMisses) {
  EXPECT_NE(chance_to_miss(100).find("(1 - f)^100"), std::string::npos);
  EXPECT_NE(chance_to_miss(100).find("0.37 for 1 %"), std::string::npos);
}

// Three CPUs take every piece of work once.
TEST(OnDevices, DoesEverythingOnce) {
  std::vector<std::atomic<int>> done(100);
  on_devices({at::kCPU, at::kCPU, at::kCPU}, 100, [&](int64_t i, at::Device) { ++done[i]; });
  for (const auto& times : done) EXPECT_EQ(times, 1);
}

TEST(OnDevices, ThrowsWhatAPieceOfWorkThrows) {
  for (const std::vector<at::Device>& devices :
       {std::vector<at::Device>{at::kCPU}, {at::kCPU, at::kCPU}})
    EXPECT_THROW(on_devices(devices, 10,
                            [](int64_t i, at::Device) {
                              if (i == 3) throw std::out_of_range("a broken piece");
                            }),
                 std::out_of_range);
}

// Who has no room for the work takes no part in it, unless all are alike in that.
TEST(OnDevices, HavingRoom) {
  const std::vector<at::Device> gpus{{at::kCUDA, 0}, {at::kCUDA, 1}, {at::kCUDA, 2}};
  const auto spare = [](at::Device gpu) { return 10.0 * gpu.index(); };
  EXPECT_EQ(having(gpus, 0, spare), gpus);
  EXPECT_EQ(having(gpus, 10, spare), (std::vector<at::Device>{{at::kCUDA, 1}, {at::kCUDA, 2}}));
  EXPECT_EQ(having(gpus, 21, spare), gpus);
}

}  // namespace
}  // namespace ringcheck::parity
