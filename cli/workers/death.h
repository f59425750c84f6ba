// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/process/process.h"
#include "cli/workers/status_file.h"
#include "reports/result.h"

namespace ringcheck::cli {

// What is known when a worker group is dead, or silent for too long.
struct Remains {
  std::vector<RankStatus> ranks;
  std::vector<bool> stopped;   // a rank's process is stopped
  std::optional<Ended> ended;  // nothing: it is silent
  double silent_seconds = 0;
  std::string output;  // of its processes
};
Remains collect(const std::vector<RankStatus>& ranks, const std::optional<Ended>& ended,
                double silent_seconds, const std::string& output);

// Which rank is to blame, in which case, and what every rank was doing.
struct Death {
  reports::Status verdict = reports::Status::kCrash;
  int test = -1;  // among the cases of the group; -1: before the first one
  std::string reason;
  std::vector<std::string> findings;
};
Death explain(const Remains& remains);

// The same of ranks that a launcher started, when the first of them has ended. Those on other
// machines are idle here: nothing is known of them. Skipped where somebody ended all of them.
Death explain_launched(const std::vector<RankStatus>& ranks);

// What a death costs, of the cases that its group took and has no result of (`pending`): the one that was running. Between
// two cases the next one that is pending, or the last that it did, where the group ended by itself (`ended`); nothing where it was
// silent, whether or not it would have gone on. A group that never began a case did not start.
struct Cost {
  enum class Of { kNothing, kPending, kLastDone, kStart };
  Of of = Of::kNothing;
  size_t test = 0;  // kPending
  bool operator==(const Cost&) const = default;
};
Cost cost_of(const Death& death, bool ended, const std::vector<size_t>& pending);

}  // namespace ringcheck::cli
