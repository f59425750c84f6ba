// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/run.h"

namespace ringcheck::parity {

int ranks_of(const Run& run) { return run.test.world * (run.in_other_group && run.test.world_kind == "thread" ? 2 : 1); }

Layout layout_of(const Run& run) { return run.layout ? *run.layout : layout_of(run.test); }

RankInput input_of(const Run& run, int rank) {
  const Layout layout = layout_of(run);
  const Positions &queries = layout.queries.at(rank), &keys = layout.keys.at(rank);
  const auto of_rank = [&](const ProblemSource& problem) {
    Problem local = problem(run.test, queries);
    if (queries == keys) return local;
    const Problem other = problem(run.test, keys);
    return Problem{local.q, other.k, other.v, local.d_o};
  };
  RankInput input{of_rank(run.problem), queries, run.layout};
  if (run.meanwhile) input.meanwhile = of_rank(run.meanwhile);
  input.by_autograd = run.by_autograd;
  return input;
}

}  // namespace ringcheck::parity
