// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/scaling/timeline.h"
#include "cp/worlds/communicator.h"
#include "parity/case/case.h"

namespace ringcheck::bench {

// How a pass is given to its device: kernel by kernel, or as a graph that was made before.
enum class Launch { kCalls, kGraph };

// What a case took. Times are of the slowest rank, one for each pair of passes. A graph has no ledger,
// and its memory is that of the pass that it was made of: it leaves the rest out.
struct Timing {
  std::vector<double> forward_seconds, seconds;  // forward alone; forward and backward
  std::optional<double> exposed_share;    // of the last pass: communication that no attention kernel covered
  std::optional<double> attention_share;  // of the last pass: attention kernels were at work
  // How much longer a pass takes because the ledger records it; on a CPU how much more of the
  // processor it takes, which other programs do not disturb.
  std::vector<double> ledger_shares;
  // Most that LibTorch's allocator of a device had handed out at a time since the passes to warm up,
  // inputs included, of the device with the most; of a CPU nothing.
  std::optional<int64_t> peak_bytes;
  std::optional<Timeline> forward_timeline, timeline;  // of passes that were traced
  std::optional<int64_t> thrown_away;                  // samples, as Samples says
  // From each rank to the next, all at once, a second: the best of some long messages. One rank has none.
  std::optional<double> link_bytes;
};

// The same problem on one device: on that of rank 0, and the medians of the slowest rank's.
struct Alone {
  Timing first;
  double slowest_seconds = 0, slowest_forward_seconds = 0;
};

// How it is timed.
struct Timed {
  int pairs = 10;
  Launch launch = Launch::kCalls;
  int64_t groups_alone = 0;  // key heads that one device computes, with their query heads; 0: all
  std::string trace = {};    // how the files begin into which passes of all ranks are traced; empty: none are
};

// Runs passes in pairs, one of which the ledger records, after two to warm up; or so many replays after
// two. Where a pass takes longer than 2 s there is one to warm up, and all are recorded. Traced ones come last.
// Collective.
Timing time_passes(Communicator& comm, const parity::Case& test, const Timed& how);

// The case that one device computes by itself: all of this one, or so many of its key heads.
parity::Case alone(const parity::Case& test, int64_t groups);

// Every rank runs all of it by itself, at the same time; ranks on CPUs, which share them, leave that to
// rank 0. Of some heads the time is scaled to all of them. Collective.
Alone time_alone(Communicator& comm, const parity::Case& test, const Timed& how);

}  // namespace ringcheck::bench
