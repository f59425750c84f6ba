// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "parity/subject/out_of_memory.h"
#include "parity/subject/subject.h"

namespace ringcheck::parity {

// What surrounds a subject on a rank: called before it, and what it returns lives until the subject
// has returned on all ranks. Collective.
using Surroundings = std::function<std::shared_ptr<void>(Communicator&, const Case&)>;

// One execution of a subject: a case, what its tensors are, and under which circumstances.
struct Run {
  Case test;
  ProblemSource problem = [](const Case& c, const Positions& p) { return problem_of(c, p); };
  ProblemSource meanwhile = {};    // of RankInput
  bool by_autograd = false;        // of RankInput
  std::optional<Layout> layout = {};  // of RankInput
  // In a group whose order is not that of the world: of processes, all of them, with all but the first
  // backwards; of threads, a group of a group of twice as many, backwards, while the others run it on
  // the negative of the tensors.
  bool in_other_group = false;
  Surroundings surroundings = {};
  int calls = 1;                   // of the subject, one after the other; the last one counts
  int first_device = 0;            // that of rank 0, of threads
  MemoryModel memory_model = {};   // what a rank needs, for the message where memory runs out
  bool timeline = false;           // of each rank is wanted
};

// How many ranks it takes, those of another group among them.
int ranks_of(const Run& run);

// Who holds which queries and keys in a run.
Layout layout_of(const Run& run);

// What a rank is given in a run: its slots.
RankInput input_of(const Run& run, int rank);

}  // namespace ringcheck::parity
