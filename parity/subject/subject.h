// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "cp/attention/context_parallel.h"
#include "parity/case/case.h"
#include "parity/case/problem.h"

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

// What one rank has: its slots of the problem, and where they belong.
struct RankInput {
  Problem local;
  Positions positions;
  // Where there is one: between the forward pass of `local` and the backward pass that counts come
  // a backward pass whose gradients are dropped and all of this other problem, by a subject whose
  // passes can be called one by one.
  std::optional<Problem> meanwhile = {};
};

// What one rank gives back, [batch, heads, slots, dim]. The rotated q and k may be undefined where
// a subject does not expose them, any other tensor only where it says so: see `withheld`.
struct RankOutput {
  at::Tensor o, lse, dq, dk, dv;
  at::Tensor q_rotated, k_rotated;
  RankRecord record;
  // Of lse | dq | dk | dv: what this implementation has no way to show, the same on all ranks. A
  // tensor that is missing otherwise is a failure.
  std::set<std::string> withheld = {};
  bool solved_meanwhile = false;  // what the input asked for was done
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
