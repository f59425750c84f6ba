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

// The cases of a group: those that have a result, as they came, and those that it took and that have none: when it was found
// dead or silent, and since it was ended.
struct Accounts {
  std::vector<size_t> done, pending_then, pending;
};

// What a death costs: the case that was running, or nothing where that has got its result meanwhile, or began then. Between two cases the next
// one that is pending, or else the last that was done. A group that never began a case did not start.
struct Cost {
  enum class Of { kNothing, kTest, kStart };
  Of of = Of::kNothing;
  size_t test = 0;  // kTest
  bool operator==(const Cost&) const = default;
};
Cost cost_of(const Death& death, const Accounts& accounts);

}  // namespace ringcheck::cli
