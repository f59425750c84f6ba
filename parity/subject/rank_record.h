// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "cp/ledger/ledger.h"

namespace ringcheck::parity {

// What one rank counted.
struct RankCounts {
  Counters forward, backward;
  int64_t peak_bytes = 0;                    // of everything the rank allocated
  int64_t kv_bytes = 0;                      // most K and V held at a time
  int64_t traveller_bytes = 0;               // most gradient travellers held at a time
  int64_t wrong_pads = 0;                    // elements of pad slots that are not exactly empty
  std::vector<int64_t> sent_to, received_from;  // bytes by rank of the group
  bool operator==(const RankCounts&) const = default;
};

// And what it measured, which is different in every run and no part of an equality.
struct RankRecord : RankCounts {
  Seconds forward_seconds, backward_seconds;
  // Held more after the last call of a run than after its second; what other threads allocate is
  // unseen.
  int64_t grown_bytes = 0;
  static constexpr int64_t kUnseen = -1;
};

}  // namespace ringcheck::parity
