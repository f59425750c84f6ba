// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::parity {

// What one rank must have moved and held, from closed forms that share nothing with cp
// (docs/counters.md).
struct ExpectedPass {
  int64_t bytes = 0;     // sent, and received
  int64_t messages = 0;  // sent
  int64_t pairs = 0;
  int64_t flops = 0;
  int64_t steps = 0;
};
struct ExpectedCounters {
  ExpectedPass forward, backward;
  int64_t kv_bytes = 0, traveller_bytes = 0;    // most held at a time, exact
  int64_t peak_bytes = 0;                       // of everything: an upper bound
  std::vector<int64_t> sent_to, received_from;  // by rank, both passes
};

ExpectedCounters expected_counters(const Case& test, int rank);

// The rank that holds a position.
int owner_of(const Case& test, int64_t position);

// How many keys a query at this position sees.
int64_t keys_seen(const Case& test, int64_t position);

}  // namespace ringcheck::parity
