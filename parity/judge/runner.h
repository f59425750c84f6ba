// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parity/judge/oracle.h"

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
  std::chrono::milliseconds deadline{30000};
  // Told what a rank is about to do; called on the rank's thread. The judging itself reports as
  // rank 0, operation "judge".
  std::function<void(int rank, const Operation&)> observer;
  Subject subject = context_parallel;
  Judging judging;
};

// One case, from problem to verdict, on threads of this process. A rank that fails or hangs is a
// verdict, not an exception.
Verdict verify(const Case& test, const RunOptions& options);

// The same on the processes of `world`, which has as many ranks as the case says and was made for
// this case: its ledger is empty. Collective; the verdict is on rank 0, which judges while the
// others return. A failure of a rank is thrown: there the processes must end.
std::optional<Verdict> verify(const Case& test, Communicator& world, const RunOptions& options);

}  // namespace ringcheck::parity
