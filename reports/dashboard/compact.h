// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <vector>

// What keeps the data of a page small.
namespace ringcheck::reports {

// To six significant digits; null where it is no number.
nlohmann::json rounded(double value);
// A figure of a result, likewise.
nlohmann::json rounded(const nlohmann::json& figure);

// Ascending numbers as [first, last] of each run without gaps.
nlohmann::json ranges(const std::vector<size_t>& ascending);

}  // namespace ringcheck::reports
