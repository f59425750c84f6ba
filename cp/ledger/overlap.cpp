// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/overlap.h"

#include <algorithm>
#include <cmath>

namespace ringcheck {

double covered(std::vector<Stretch> stretches) {
  for (const Stretch& s : stretches)
    if (std::isnan(s.begin) || std::isnan(s.end)) return Seconds::kUnknown;
  std::ranges::sort(stretches, {}, &Stretch::begin);
  double sum = 0, end = -std::numeric_limits<double>::infinity();
  for (const Stretch& s : stretches) {
    sum += std::max(0.0, s.end - std::max(s.begin, end));
    end = std::max(end, s.end);
  }
  return sum;
}

// |A and B| = |A| + |B| - |A or B|.
Seconds seconds_of(const std::vector<Stretch>& attention, const std::vector<Stretch>& messages) {
  std::vector<Stretch> both = attention;
  both.insert(both.end(), messages.begin(), messages.end());
  Seconds seconds{covered(attention), covered(messages), {}, {}};
  const double either = covered(std::move(both));
  if (std::isnan(either)) return {seconds.attention, seconds.communication};
  seconds.exposed = std::clamp(either - seconds.attention, 0.0, seconds.communication);
  seconds.overlapped = seconds.communication - seconds.exposed;
  return seconds;
}

}  // namespace ringcheck
