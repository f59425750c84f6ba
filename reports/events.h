// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// As many as a result is to hold, at about a hundred bytes each.
inline constexpr int64_t kMostEvents = 10000;

// The events that results of cases hold.
struct Events {
  int64_t events = 0, cases = 0;  // that are kept, and of how many cases
  int64_t left_out = 0;           // cases whose events had no room
};

// Keeps those of as many cases as there is room for, what did not pass first; of a case all or none,
// and of the first one all, whatever the room.
Events keep_events(std::vector<CaseResult>& cases, int64_t room);

// "timelines: 96 events of 1 case"
std::string to_text(const Events& kept);

}  // namespace ringcheck::reports
