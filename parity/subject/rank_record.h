// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cp/ledger/ledger.h"
#include "cp/ledger/timeline.h"

namespace ringcheck::parity {

// Elements of pad slots that are not exactly empty, of O, LSE, dQ, dK and dV.
using WrongPads = std::array<int64_t, 5>;

// What was counted of one rank, by whoever runs the subject.
struct RankCounts {
  Counters forward, backward;                // as far as the subject marks its passes in the ledger
  // Of the whole call, whenever it went and by whichever way.
  int64_t bytes_sent = 0, bytes_received = 0, messages = 0;
  Stock forward_stock, backward_stock;       // held in the passes, beside what was held before
  int64_t peak_bytes = 0;                    // of everything the rank allocated
  int64_t kv_bytes = 0;                      // most K and V held at a time
  int64_t traveller_bytes = 0;               // most gradient travellers held at a time
  WrongPads wrong_pads = {};
  std::vector<int64_t> forward_heads, backward_heads;  // pairs attended, by key-value head of the model
  std::vector<int64_t> sent_to, received_from;  // bytes by rank, of the whole call
  std::vector<std::string> unwaited;  // in words, what was posted in the passes and never waited for
  bool operator==(const RankCounts&) const = default;
};

// And what it measured, which is different in every run and no part of an equality.
struct RankRecord : RankCounts {
  Seconds forward_seconds, backward_seconds;
  // Held more after the last call of a run than after its second; what other threads allocate is
  // unseen.
  int64_t grown_bytes = 0;
  static constexpr int64_t kUnseen = -1;
  Timeline timeline;  // where a run wants it, as far as the subject marks its passes in the ledger
};

}  // namespace ringcheck::parity
