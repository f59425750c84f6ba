// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace ringcheck::reports {

// Neighbouring runs of a series that differ by noise alone: their median, and the band in which a
// further one is expected, three scaled median absolute deviations to either side (Rousseeuw and
// Croux, Journal of the American Statistical Association 88, 1993).
struct Level {
  size_t begin, end;  // positions in the series
  double low, middle, high;
};

// Cuts a series, oldest first and without NaN, where its level changes: at the place that the test of
// Pettitt (Applied Statistics 28, 1979) finds most likely, as long as it rejects "no change" with
// probability of error `alpha`, and again on both sides (Vostrikova, Soviet Mathematics Doklady 24, 1981). By ranks alone: an outlier
// is no change. A level has at least kShortest runs.
inline constexpr size_t kShortest = 5;
std::vector<Level> levels_of(const std::vector<double>& values, double alpha);

}  // namespace ringcheck::reports
