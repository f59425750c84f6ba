// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/scaling/timing.h"
#include "parity/case/case.h"

namespace ringcheck::bench {

inline const std::map<std::string, Launch> kLaunches{{"calls", Launch::kCalls}, {"graph", Launch::kGraph}};

// What ringcheck_scaling was asked for, in words.
struct Options {
  std::vector<std::string> cases;
  std::vector<std::string> transports;         // none: the usual one
  std::vector<std::string> launches{"calls"};  // of kLaunches
  std::string json, figures, trace;
  bool figures_given = false;
  int pairs = 10;
  int64_t sample = 0, groups_alone = 0;
};

std::vector<std::string> transports_of(const Options& options);

// The cases, of ranks that a launcher has started or of threads. For one that begins with auto/ a strategy is picked, and
// stderr says why where this process speaks. Throws cli::UsageError and parity::BadCase.
std::vector<parity::Case> cases_of(const Options& options, bool launched, bool speaks);

// Whether all that was asked can be done with them; makes the folder of the traces. Throws cli::UsageError.
void check(const Options& options, const std::vector<parity::Case>& cases, bool launched);

}  // namespace ringcheck::bench
