// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cp/ledger/ledger.h"

namespace ringcheck {

// Something that a rank did in a pass. Times are in nanoseconds; where nobody knows when, there is none.
struct Event {
  enum class What { kAttend, kMerge, kSend, kReceive };
  What what = What::kAttend;
  Phase phase = Phase::kForward;
  std::optional<int64_t> begin = {}, end = {};  // of a merge both are when it was done
  int64_t pairs = 0, flops = 0;                 // attended
  int64_t bytes = 0;                            // of a message, and its operation
  int step = -1, peer = -1;
  std::string operation = {};
  bool operator==(const Event&) const = default;
};

// What one rank did in its passes: the forward pass first, and each in the order in which its events
// began, those without a time at its end.
struct Timeline {
  std::string clock = {};  // that of which machine, since it started; of a pass of a GPU as of Ledger
  std::vector<Event> events = {};
  bool operator==(const Timeline&) const = default;
};

// Of a ledger whose times are settled.
Timeline timeline_of(const Ledger& ledger);

// Counts the times of each pass from its first event on any rank with the same clock.
void align(std::vector<Timeline>& ranks);

// As a text, to be sent to another process, and back. Throws std::invalid_argument where it is none.
std::string text_of(const Timeline& timeline);
Timeline timeline_from(const std::string& text);

}  // namespace ringcheck
