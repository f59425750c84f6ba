// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

// Intervals of the difference between two locations, for logarithms of times: of their ratio.
namespace ringcheck::reports {

struct Interval {
  double low, estimate, high;
};

// Of new - base, both drawn from distributions of one unknown shape, with confidence 1 - alpha: the
// differences of all pairs that the Mann-Whitney test does not reject (Hodges and Lehmann, Annals of
// Mathematical Statistics 34, 1963; Hollander, Wolfe and Chicken, Nonparametric Statistical Methods,
// 2014, section 4.3). Exact for any shape; of more than a thousand values a side only as many are
// used. None where so few values cannot have this confidence.
std::optional<Interval> rank_interval(const std::vector<double>& base,
                                      const std::vector<double>& new_, double alpha);

// How many values a side has to have for rank_interval.
int fewest_for_ranks(double alpha);

// How far runs of the same code differ: the standard deviation of one run, and how well it is known.
struct Spread {
  double deviation;
  double freedom;  // degrees of freedom of the estimate
  int runs;
};

// From runs in the order of time, by the differences within pairs of neighbours, so that a step or a
// drift counts little: each is one degree of freedom. None of fewer than kFewestEarlier: where noise
// is no normal law and many series divide alpha, ten alarmed in 6 % of comparisons of equals.
inline constexpr size_t kFewestEarlier = 20;
std::optional<Spread> spread_of(const std::vector<double>& runs);

// Student's interval of the mean of new - that of base, with a spread known from elsewhere.
Interval spread_interval(const std::vector<double>& base, const std::vector<double>& new_,
                         const Spread& spread, double alpha);

// The smallest true difference whose interval would lie above the margin in this share of
// comparisons with data like these, by the larger half of the interval and the normal law of the
// estimate: margin + half (1 + z_power / z_alpha).
double smallest_seen(const Interval& interval, double margin, double alpha, double power);

// How often a value of new is above one of base, less how often it is below: -1 to 1 (Cliff,
// Psychological Bulletin 114, 1993).
double cliffs_delta(const std::vector<double>& base, const std::vector<double>& new_);

}  // namespace ringcheck::reports
