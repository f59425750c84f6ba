// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "cp/context_parallel.h"
#include "parity/case.h"
#include "parity/problem.h"

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
};

// What one rank has: its slots of the problem, and where they belong.
struct RankInput {
  Problem local;
  Positions positions;
};

// What one rank gives back, [batch, heads, slots, dim]. LSE and the rotated q and k may be
// undefined where a subject does not expose them.
struct RankOutput {
  at::Tensor o, lse, dq, dk, dv;
  at::Tensor q_rotated, k_rotated;
  RankRecord record;
};

// The implementation under test, as one rank of a communicator runs it.
using Subject = std::function<RankOutput(Communicator&, const Case&, const RankInput&)>;

// Ours: strategy x rotation x balancer x kernel, as the case says. Restarts the rank's ledger.
RankOutput context_parallel(Communicator& comm, const Case& test, const RankInput& input);

// The parts that a case names, and ours put together from these or from others in their place.
ContextParallel::Options options_of(const Case& test);
RankOutput context_parallel_with(const ContextParallel::Options& parts, Communicator& comm,
                                 const Case& test, const RankInput& input);

}  // namespace ringcheck::parity
