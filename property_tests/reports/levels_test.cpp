// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/dashboard/levels.h"

#include <gtest/gtest.h>

#include <random>

namespace ringcheck::reports {
namespace {

std::vector<double> noise(size_t runs, double middle, double deviation, uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::normal_distribution<double> normal(middle, deviation);
  std::vector<double> values(runs);
  for (double& value : values) value = normal(draw);
  return values;
}

std::vector<double> followed_by(std::vector<double> values, const std::vector<double>& others) {
  values.insert(values.end(), others.begin(), others.end());
  return values;
}

TEST(Levels, EqualRunsAlarmNoMoreOftenThanAsked) {
  constexpr int kSeries = 2000;
  constexpr double kAlpha = 0.05;
  for (const size_t runs : {10, 30, 100}) {
    int alarms = 0;
    for (uint64_t seed = 0; seed < kSeries; ++seed)
      alarms += levels_of(noise(runs, 1, 0.01, seed), kAlpha).size() > 1;
    EXPECT_LE(alarms, kAlpha * kSeries) << runs << " runs";
  }
}

TEST(Levels, AChangeIsFoundWhereItIs) {
  int found = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto levels = levels_of(followed_by(noise(20, 1, 0.01, 2 * seed), noise(20, 1.05, 0.01, 2 * seed + 1)), 0.0005);
    found += levels.size() == 2 && levels[1].begin >= 18 && levels[1].begin <= 22;
  }
  EXPECT_GE(found, 95);
}

TEST(Levels, SeveralChangesAreFound) {
  const auto levels = levels_of(followed_by(followed_by(noise(30, 1, 0.01, 1), noise(30, 1.2, 0.01, 2)), noise(30, 0.9, 0.01, 3)), 0.001);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[1].begin, 30u);
  EXPECT_EQ(levels[2].begin, 60u);
  EXPECT_NEAR(levels[1].middle, 1.2, 0.01);
}

TEST(Levels, AnOutlierIsNoChange) {
  std::vector<double> values = noise(40, 1, 0.01, 4);
  values[20] = 50;
  EXPECT_EQ(levels_of(values, 0.001).size(), 1u);
}

TEST(Levels, TheBandHoldsNearlyAllRunsOfItsLevel) {
  const std::vector<double> values = noise(10000, 1, 0.01, 5);
  const auto levels = levels_of(values, 1e-6);
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_NEAR(levels[0].high - levels[0].middle, 0.03, 0.002);  // three deviations of the normal law
  EXPECT_NEAR(levels[0].middle - levels[0].low, 0.03, 0.002);
}

TEST(Levels, CoverTheSeriesWithoutGaps) {
  const auto levels = levels_of(followed_by(noise(17, 1, 0.01, 6), noise(23, 2, 0.01, 7)), 0.01);
  size_t next = 0;
  for (const Level& level : levels) {
    EXPECT_EQ(level.begin, next);
    EXPECT_GE(level.end - level.begin, kShortest);
    next = level.end;
  }
  EXPECT_EQ(next, 40u);
}

TEST(Levels, FewOrEqualValuesHaveOneLevel) {
  EXPECT_TRUE(levels_of({}, 0.05).empty());
  EXPECT_EQ(levels_of({3}, 0.05).size(), 1u);
  const auto levels = levels_of(std::vector<double>(50, 2.5), 0.05);
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].low, 2.5);
  EXPECT_EQ(levels[0].high, 2.5);
}

}  // namespace
}  // namespace ringcheck::reports
