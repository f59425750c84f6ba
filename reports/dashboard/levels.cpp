// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/dashboard/levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "reports/median.h"

namespace ringcheck::reports {
namespace {

using Values = std::vector<double>;

Values slice(const Values& values, size_t begin, size_t end) {
  return {values.begin() + static_cast<ptrdiff_t>(begin), values.begin() + static_cast<ptrdiff_t>(end)};
}

// From 1; equal values share the mean of theirs.
Values ranks_of(const Values& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  Values ranks(values.size());
  for (size_t first = 0, next = 0; first < order.size(); first = next) {
    while (next < order.size() && values[order[next]] == values[order[first]]) ++next;
    for (size_t i = first; i < next; ++i)
      ranks[order[i]] = (static_cast<double>(first) + static_cast<double>(next) + 1) / 2;
  }
  return ranks;
}

// U_t = 2 (sum of the first t ranks) - t (n + 1); its largest |U_t| is K, and
// P(K >= k) is about 2 exp(-6 k^2 / (n^3 + n^2)) where nothing changes.
std::optional<size_t> change_in(const Values& values, double alpha) {
  const Values ranks = ranks_of(values);
  const auto n = static_cast<double>(values.size());
  double sum = 0, largest = 0;
  size_t at = 0;
  for (size_t t = 1; t + kShortest <= ranks.size(); ++t) {
    sum += ranks[t - 1];
    const double u = std::abs(2 * sum - static_cast<double>(t) * (n + 1));
    if (t >= kShortest && u > largest) {
      largest = u;
      at = t;
    }
  }
  if (at == 0 || 2 * std::exp(-6 * largest * largest / (n * n * n + n * n)) > alpha) return {};
  return at;
}

void cut(const Values& values, size_t begin, size_t end, double alpha, std::vector<size_t>& ends) {
  if (const auto change = change_in(slice(values, begin, end), alpha)) {
    cut(values, begin, begin + *change, alpha, ends);
    cut(values, begin + *change, end, alpha, ends);
  } else {
    ends.push_back(end);
  }
}

Level level_of(const Values& values, size_t begin, size_t end) {
  constexpr double kNormal = 1.4826;  // of a median absolute deviation to a standard deviation
  Values off = slice(values, begin, end);
  const double middle = median(off);
  for (double& value : off) value = std::abs(value - middle);
  const double half = 3 * kNormal * median(off);
  return {begin, end, middle - half, middle, middle + half};
}

}  // namespace

std::vector<Level> levels_of(const Values& values, double alpha) {
  std::vector<size_t> ends;
  if (!values.empty()) cut(values, 0, values.size(), alpha, ends);
  std::vector<Level> levels;
  for (const size_t end : ends)
    levels.push_back(level_of(values, levels.empty() ? 0 : levels.back().end, end));
  return levels;
}

}  // namespace ringcheck::reports
