// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "parity/judge/oracle.h"
#include "parity/subject/ours.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {

std::vector<std::string> oracles_of_one_run();
std::vector<std::string> all_oracles();

// Who judges, and how thoroughly.
struct Judging {
  // The names of the oracles; by default all that are content with one run of the subject.
  std::vector<std::string> oracles = oracles_of_one_run();
  // Queries and keys of each head that parity judges, where the sequence is longer; 0: all.
  int64_t sample = 0;
};

struct RunOptions {
  std::chrono::milliseconds deadline{30000};  // of threads that are made for a case
  // Told what a rank is about to do, on the rank's thread. The judging itself reports as rank 0,
  // operation "judge".
  Observer observer = {};
  SharedSubject subject = {};  // in place of the one that the case names
  Judging judging = {};
};

// One case, from problem to verdict. Collective over the processes of the world: the verdict is on
// its first one, which judges while the others return. A rank that fails or hangs is a verdict
// where the world survives it (RankFailure), an exception where its processes must end. Throws
// BadCase where there is no such subject or its promise cannot be.
std::optional<Verdict> verify(const Case& test, World& world, const RunOptions& options);

// The same on threads of this process.
Verdict verify(const Case& test, const RunOptions& options);

}  // namespace ringcheck::parity
