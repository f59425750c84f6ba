// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "cp/worlds/thread_world.h"
#include "parity/subject/out_of_memory.h"
#include "parity/subject/subject.h"
#include "reference/attention.h"

namespace ringcheck::parity {

// What a subject computed, put together in sequence order, and what its ranks measured.
struct Outcome {
  reference::Tensors tensors;      // in the dtypes the subject returned them in
  at::Tensor q_rotated, k_rotated;
  std::vector<RankRecord> ranks;
  std::vector<std::string> missing = {};  // tensors that were not returned, with the rank, in words
  std::set<std::string> withheld = {};    // tensors that the subject says it cannot show
  bool solved_meanwhile = false;

  bool shows_rotated() const { return q_rotated.defined() && k_rotated.defined(); }
};

// Are all tensors equal? Every NaN is the same, and -0 is 0.
bool same_values(Outcome a, Outcome b);

// What surrounds a subject on a rank: called before it, and what it returns lives until the subject
// has returned on all ranks. Collective.
using Surroundings = std::function<std::shared_ptr<void>(Communicator&, const Case&)>;

// One execution of a subject: a case, what its tensors are, and under which circumstances.
struct Run {
  Case test;
  ProblemSource problem = [](const Case& c, const Positions& p) { return problem_of(c, p); };
  ProblemSource meanwhile = {};    // of RankInput
  Surroundings surroundings = {};
  int calls = 1;                   // of the subject, one after the other; the last one counts
  int first_device = 0;            // that of rank 0, of threads
  MemoryModel memory_model = {};   // what a rank needs, for the message where memory runs out
};

// Runs the subject on the ranks of `world` and brings everything to its rank 0; nothing on the
// other ranks. Collective.
std::optional<Outcome> solve(const Run& run, Communicator& world, const Subject& subject);

// The same on threads of this process. Throws RankFailure.
Outcome solve(const Run& run, const ThreadWorld& world, const Subject& subject);

}  // namespace ringcheck::parity
