// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <utility>
#include <vector>

// What keeps the data of a page small.
namespace ringcheck::reports {

// To six significant digits; null where it is no number.
nlohmann::json rounded(double value);
// A figure of a result, likewise.
nlohmann::json rounded(const nlohmann::json& figure);

// First and last of each run without gaps of ascending numbers.
template <class Number>
std::vector<std::pair<Number, Number>> stretches_of(const std::vector<Number>& ascending) {
  std::vector<std::pair<Number, Number>> list;
  for (const Number number : ascending)
    if (!list.empty() && list.back().second + 1 == number) list.back().second = number;
    else list.push_back({number, number});
  return list;
}

// The same as [first, last] of each.
nlohmann::json ranges(const std::vector<size_t>& ascending);

}  // namespace ringcheck::reports
