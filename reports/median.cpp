// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/median.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ringcheck::reports {

double median(std::vector<double> values) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (values.empty() || std::any_of(values.begin(), values.end(), is_nan))
    return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<double> numbers(const std::vector<Figure>& figures) {
  return {figures.begin(), figures.end()};
}

}  // namespace ringcheck::reports
