// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cp/thread_world.h"
#include "parity/subject.h"
#include "reference/attention.h"

namespace ringcheck::parity {

// What a subject computed, put together in sequence order, and what its ranks measured.
struct Outcome {
  reference::Tensors tensors;      // in the dtypes the subject returned them in
  at::Tensor q_rotated, k_rotated;
  std::vector<RankRecord> ranks;
};

// One execution of a subject: a case, and what its tensors are.
struct Run {
  Case test;
  ProblemSource problem = [](const Case& c, const Positions& p) { return problem_of(c, p); };
};

// Runs the subject on the ranks of `world` and brings everything to its rank 0; nothing on the
// other ranks. Collective.
std::optional<Outcome> solve(const Run& run, Communicator& world, const Subject& subject);

// The same on threads of this process. Throws RankFailure.
Outcome solve(const Run& run, const ThreadWorld& world, const Subject& subject);

}  // namespace ringcheck::parity
