// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/sampling.h"

#include <c10/util/StringUtil.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <set>

namespace ringcheck::parity {

std::vector<int64_t> drawn_positions(int64_t length, int64_t count, uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::set<int64_t> drawn;
  for (int64_t last = std::max<int64_t>(0, length - count); last < length; ++last) {
    const auto position = static_cast<int64_t>(bits() % static_cast<uint64_t>(last + 1));
    drawn.insert(drawn.contains(position) ? last : position);
  }
  return {drawn.begin(), drawn.end()};
}

std::string chance_to_miss(int64_t count) {
  std::string text;
  for (const double share : {0.1, 0.01, 0.001}) {
    char chance[32];
    std::snprintf(chance, sizeof chance, "%.2g", std::pow(1 - share, static_cast<double>(count)));
    text += c10::str(text.empty() ? "" : ", ", chance, " for ", 100 * share, " %");
  }
  return c10::str("a wrong block of a share f of the positions is missed with probability (1 - f)^",
                  count, ": ", text);
}

}  // namespace ringcheck::parity
