// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

namespace ringcheck {

// From `begin` to `end`, in seconds of one clock.
struct Stretch {
  double begin = 0, end = 0;
};

// How long at least one of them lasts. NaN where a bound is NaN.
double covered(std::vector<Stretch> stretches);

// Where the seconds of a pass went. NaN: not measured.
struct Seconds {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double attention = kUnknown;      // attention kernels were at work
  double communication = kUnknown;  // a message to this rank was under way
  double exposed = kUnknown;        // of that, while no attention kernel of this rank was at work
  double overlapped = kUnknown;     // of that, while one was
};
Seconds seconds_of(const std::vector<Stretch>& attention, const std::vector<Stretch>& messages);

}  // namespace ringcheck
