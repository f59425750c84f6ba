// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Intervals hold what they should as often as they say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "reports/compare/interval.h"

namespace ringcheck::reports {
namespace {

using Values = std::vector<double>;

// P(U < c) for all orders of m and n values, counted one by one.
double share_below(int m, int n, int c) {
  std::vector<int> side(m, 0);
  side.insert(side.end(), n, 1);
  int orders = 0, below = 0;
  do {
    int u = 0, base = 0;
    for (const int value : side) {
      if (value == 0) ++base;
      else u += base;
    }
    ++orders;
    below += u < c;
  } while (std::next_permutation(side.begin(), side.end()));
  return static_cast<double>(below) / orders;
}

// The interval leaves out as many differences as the law of U, counted by hand, allows, and no fewer.
TEST(RankInterval, IsTheOneOfTheTest) {
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{{1, 1}, {2, 3}, {4, 4}, {5, 5}, {3, 8}, {7, 6}})
    for (const double alpha : {0.5, 0.2, 0.1, 0.05, 0.01}) {
      Values base, now;
      for (int i = 0; i < m; ++i) base.push_back(-100.0 * i);  // all differences differ, in known order
      for (int i = 0; i < n; ++i) now.push_back(i);
      int c = 0;
      while (share_below(m, n, c + 1) <= alpha / 2) ++c;
      const auto interval = rank_interval(base, now, alpha);
      ASSERT_EQ(interval.has_value(), c > 0) << m << " and " << n << " at " << alpha;
      if (!interval) continue;
      Values all;
      for (const double x : base)
        for (const double y : now) all.push_back(y - x);
      std::sort(all.begin(), all.end());
      EXPECT_EQ(interval->low, all[c - 1]) << m << " and " << n << " at " << alpha;
      EXPECT_EQ(interval->high, all[all.size() - c]) << m << " and " << n << " at " << alpha;
    }
}

// Published: for 10 and 10 values at 5 % U must be at most 23 (Mann and Whitney's table), so 24
// differences are left out.
TEST(RankInterval, AgreesWithTheTable) {
  Values base, now;
  for (int i = 0; i < 10; ++i) base.push_back(-100.0 * i), now.push_back(i);
  const auto interval = rank_interval(base, now, 0.05);
  ASSERT_TRUE(interval);
  Values all;
  for (const double x : base)
    for (const double y : now) all.push_back(y - x);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(interval->low, all[23]);
}

TEST(RankInterval, WantsAsManyValuesAsItSays) {
  for (const double alpha : {0.5, 0.05, 0.01, 0.05 / 24, 0.05 / 100, 1e-6}) {
    const int fewest = fewest_for_ranks(alpha);
    const Values enough(fewest, 1.0), few(fewest - 1, 1.0);
    EXPECT_TRUE(rank_interval(enough, enough, alpha)) << alpha;
    EXPECT_FALSE(rank_interval(few, few, alpha)) << alpha;
  }
  EXPECT_FALSE(rank_interval({}, {1, 2, 3}, 0.5));
  EXPECT_TRUE(rank_interval(Values(100'000, 1.0), Values(100'000, 1.0), 0.05));
}

// Of too many, some of all parts stand for them: where one half is larger by 1, half of the differences are.
TEST(RankInterval, IsOfAllPartsOfManyValues) {
  for (const size_t values : {2000, 2999, 10'000}) {
    const Values same(values, 1.0);
    Values late = same;
    std::fill(late.begin() + static_cast<std::ptrdiff_t>(values / 2), late.end(), 2.0);
    const auto higher = rank_interval(same, late, 0.05), lower = rank_interval(late, same, 0.05);
    EXPECT_EQ(higher->low, 0) << values;
    EXPECT_EQ(higher->high, 1) << values;
    EXPECT_EQ(lower->low, -1) << values;
    EXPECT_EQ(lower->high, 0) << values;
  }
}

// Of what is drawn from one skewed law with a shift between, the share of intervals that hold the
// shift is at least what is asked; from 51 values on by the normal law.
TEST(RankInterval, HoldsTheShift) {
  std::mt19937 random(3);
  std::exponential_distribution<double> noise(1);
  for (const int n : {8, 20, 60})
    for (const double alpha : {0.2, 0.02}) {
      constexpr int kTrials = 2000;
      int held = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        Values base(n), now(n);
        for (double& x : base) x = noise(random);
        for (double& y : now) y = noise(random) + 0.3;
        const auto interval = rank_interval(base, now, alpha);
        held += interval && interval->low <= 0.3 && 0.3 <= interval->high;
      }
      const double chance = 4 * std::sqrt(alpha * (1 - alpha) * kTrials);
      EXPECT_GE(held, (1 - alpha) * kTrials - chance) << n << " values at " << alpha;
    }
}

TEST(Spread, IsOfOneRunWhateverDrifts) {
  std::mt19937 random(4);
  std::normal_distribution<double> noise(0, 0.01);
  double squares = 0, freedom = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Values runs(30);
    for (int i = 0; i < 30; ++i) runs[i] = noise(random) + (i < 15 ? 0 : 0.01) + 1e-4 * i;
    const auto spread = spread_of(runs);
    squares += spread->deviation * spread->deviation / kTrials;
    freedom = spread->freedom;
  }
  EXPECT_NEAR(std::sqrt(squares), 0.01, 0.0005);
  EXPECT_EQ(freedom, 15);
  Values odd(21, 1.0);
  odd.front() = 9;  // the oldest of them has no neighbour
  EXPECT_EQ(spread_of(odd)->freedom, 10);
  EXPECT_EQ(spread_of(odd)->deviation, 0);
  EXPECT_FALSE(spread_of(Values(19, 1.0)));
}

// One run a side, and a spread known from few others.
TEST(SpreadInterval, HoldsTheShift) {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 0.01);
  constexpr int kTrials = 4000;
  for (const int earlier : {20, 21, 40})
    for (const double alpha : {0.2, 0.01}) {
      int held = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        Values runs(earlier);
        for (double& run : runs) run = noise(random);
        const Interval interval = spread_interval({noise(random)}, {noise(random) + 0.1}, *spread_of(runs), alpha);
        held += interval.low <= 0.1 && 0.1 <= interval.high;
      }
      const double chance = 4 * std::sqrt(alpha * (1 - alpha) * kTrials);
      EXPECT_NEAR(held, (1 - alpha) * kTrials, chance) << earlier << " runs at " << alpha;
    }
}

// The end that is known worse decides, whichever it is.
TEST(SmallestSeen, IsOfTheWiderHalf) {
  const auto seen = [](const Interval& interval) { return smallest_seen(interval, 0.5, 0.05, 0.9); };
  EXPECT_EQ(seen({-4, 0, 1}), seen({-1, 0, 4}));
  EXPECT_EQ(seen({-4, 0, 1}), seen({-4, 0, 4}));
  EXPECT_NEAR(seen({-4, 0, 1}), 0.5 + 4 * (1 + 1.281552 / 1.959964), 1e-5) << "quantiles of a table";
}

TEST(CliffsDelta, IsAShareOfPairs) {
  EXPECT_EQ(cliffs_delta({1, 2}, {3, 4}), 1);
  EXPECT_EQ(cliffs_delta({3, 4}, {1, 2}), -1);
  EXPECT_EQ(cliffs_delta({1, 2}, {1, 2}), 0);
  EXPECT_EQ(cliffs_delta({1, 2}, {2}), 0.5);
}

}  // namespace
}  // namespace ringcheck::reports
