// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "parity/judge/judged.h"
#include "parity/judge/judging.h"
#include "parity/judge/oracle.h"
#include "parity/subject/ours.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {

struct RunOptions {
  std::chrono::milliseconds deadline{30000};  // of threads that are made for a case
  // Told what a rank is about to do, on the rank's thread. The judging itself reports as rank 0,
  // operation "judge".
  Observer observer = {};
  SharedSubject subject = {};  // in place of the one that the case names
  Judging judging = {};
  // Given all that a verdict that fails follows from, where the verdict is.
  std::function<void(const Trial&, const Observed&, const Verdict&)> failed = {};
  bool timelines = false;  // the ranks of the verdict have theirs
  bool explained = false;  // a verdict that fails has its diagnosis
};

// One case, from problem to verdict. Collective over the processes of the world: the verdict is on
// its first one, which judges while the others return. A rank that fails or hangs is a verdict
// where the world survives it (RankFailure), an exception where its processes must end. Throws
// BadCase where there is no such subject or its promise cannot be.
std::optional<Verdict> verify(const Case& test, World& world, const RunOptions& options);

// The same on threads of this process.
Verdict verify(const Case& test, const RunOptions& options);

}  // namespace ringcheck::parity
