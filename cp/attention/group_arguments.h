// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ringcheck {

// The arguments of a strategy that attends heads in groups, "" or "[N]": N, or nothing. Throws
// std::invalid_argument: value, limit, fix.
inline std::optional<int64_t> parse_groups(const std::string& strategy, std::string_view arguments) {
  if (arguments.empty()) return std::nullopt;
  int64_t groups = 0;
  const bool bracketed = arguments.size() > 2 && arguments.front() == '[' && arguments.back() == ']';
  const char* end = arguments.data() + arguments.size() - 1;
  if (bracketed) {
    const auto [behind, error] = std::from_chars(arguments.data() + 1, end, groups);
    if (error == std::errc() && behind == end && groups >= 1) return groups;
  }
  throw std::invalid_argument("'" + strategy + std::string(arguments) + "': " + strategy +
                              " takes the number of groups, at least 1, into which key-value heads go; use " +
                              strategy + " or " + strategy + "[2]");
}

}  // namespace ringcheck
