// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/interval.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/binomial.hpp>
#include <cmath>
#include <numeric>

#include "reports/median.h"

namespace ringcheck::reports {
namespace {

constexpr size_t kExact = 50;   // values a side up to which the law of U is counted out
constexpr size_t kMost = 1000;  // values a side, whose differences are held

double normal_quantile(double share) { return quantile(boost::math::normal(), share); }

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// All, or every second, third, ... of too many.
std::vector<double> thinned(const std::vector<double>& values) {
  const size_t step = (values.size() + kMost - 1) / kMost;
  std::vector<double> some;
  for (size_t i = 0; i < values.size(); i += step) some.push_back(values[i]);
  return some;
}

std::vector<double> differences(const std::vector<double>& base, const std::vector<double>& new_) {
  std::vector<double> all;
  for (const double x : base)
    for (const double y : new_) all.push_back(y - x);
  std::sort(all.begin(), all.end());
  return all;
}

// In how many of the binomial(m + n, n) orders U is 0, 1, ...: the coefficients of the Gaussian
// binomial, the product of (1 - q^(m+i)) / (1 - q^i) over i = 1 ... n (Mann and Whitney, 1947).
std::vector<double> orders_by_u(size_t m, size_t n) {
  std::vector<double> count(m * n + 1, 0.0);
  count[0] = 1;
  for (size_t i = 1; i <= n; ++i) {
    for (size_t u = count.size(); u-- > m + i;) count[u] -= count[u - m - i];
    for (size_t u = i; u < count.size(); ++u) count[u] += count[u - i];
  }
  return count;
}

// How many of the smallest differences the interval leaves out at each end: the largest c with
// P(U < c) <= alpha / 2.
size_t left_out(size_t m, size_t n, double alpha) {
  const double pairs = static_cast<double>(m * n), values = static_cast<double>(m + n);
  if (std::max(m, n) > kExact) {
    const double c = pairs / 2 - normal_quantile(1 - alpha / 2) * std::sqrt(pairs * (values + 1) / 12);
    return c < 1 ? 0 : static_cast<size_t>(c);
  }
  const std::vector<double> count = orders_by_u(m, n);
  const double orders = boost::math::binomial_coefficient<double>(
      static_cast<unsigned>(m + n), static_cast<unsigned>(n));
  size_t c = 0;
  for (double below = 0; c < count.size() / 2; ++c) {
    below += count[c];
    if (below > orders * alpha / 2) break;
  }
  return c;
}

}  // namespace

std::optional<Interval> rank_interval(const std::vector<double>& all_base,
                                      const std::vector<double>& all_new, double alpha) {
  if (all_base.empty() || all_new.empty()) return std::nullopt;
  const std::vector<double> base = thinned(all_base), new_ = thinned(all_new);
  const size_t c = left_out(base.size(), new_.size(), alpha);
  if (c == 0) return std::nullopt;
  const std::vector<double> all = differences(base, new_);
  return Interval{all[c - 1], median(all), all[all.size() - c]};
}

int fewest_for_ranks(double alpha) {
  size_t values = 1;
  while (left_out(values, values, alpha) == 0) ++values;
  return static_cast<int>(values);
}

std::optional<Spread> spread_of(const std::vector<double>& runs) {
  if (runs.size() < kFewestEarlier) return std::nullopt;
  const size_t pairs = runs.size() / 2;
  double squares = 0;
  for (size_t i = runs.size() % 2; i < runs.size(); i += 2)
    squares += (runs[i + 1] - runs[i]) * (runs[i + 1] - runs[i]);
  return Spread{std::sqrt(squares / static_cast<double>(2 * pairs)), static_cast<double>(pairs),
                static_cast<int>(runs.size())};
}

Interval spread_interval(const std::vector<double>& base, const std::vector<double>& new_,
                         const Spread& spread, double alpha) {
  const double error = spread.deviation * std::sqrt(1 / static_cast<double>(base.size()) +
                                                    1 / static_cast<double>(new_.size()));
  const double half = error * quantile(boost::math::students_t(spread.freedom), 1 - alpha / 2);
  const double estimate = mean(new_) - mean(base);
  return {estimate - half, estimate, estimate + half};
}

double smallest_seen(const Interval& interval, double margin, double alpha, double power) {
  const double half = std::max(interval.estimate - interval.low, interval.high - interval.estimate);
  return margin + half * (1 + normal_quantile(power) / normal_quantile(1 - alpha / 2));
}

double cliffs_delta(const std::vector<double>& base, const std::vector<double>& new_) {
  int64_t above = 0, below = 0;
  for (const double x : base)
    for (const double y : new_) {
      above += y > x;
      below += y < x;
    }
  return static_cast<double>(above - below) / static_cast<double>(base.size() * new_.size());
}

}  // namespace ringcheck::reports
