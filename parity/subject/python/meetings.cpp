// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/meetings.h"

#include <algorithm>

namespace ringcheck::parity {

std::shared_ptr<Meeting> Meetings::next(const std::vector<int>& ranks, int own) {
  const std::lock_guard lock(mutex_);
  Ahead& ahead = ahead_[ranks];
  const size_t mine = ahead.taken[own]++;
  if (mine == ahead.meetings.size()) {
    const bool anew = !std::ranges::all_of(ranks, [&](int rank) { return together_[rank] == ranks; });
    for (const int rank : ranks) together_[rank] = ranks;
    ahead.meetings.push_back(std::make_shared<Meeting>(number_++, anew));
  }
  return ahead.meetings.at(mine);
}

void Meetings::forget() {
  const std::lock_guard lock(mutex_);
  together_.clear();
  ahead_.clear();
}

}  // namespace ringcheck::parity
