// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/run.h"

namespace ringcheck::parity {

int ranks_of(const Run& run) { return run.test.world * (run.beside_another_group ? 2 : 1); }

RankInput input_of(const Run& run, int rank) {
  const Positions positions = layout_of(run.test).queries.at(rank);
  RankInput input{run.problem(run.test, positions), positions};
  if (run.meanwhile) input.meanwhile = run.meanwhile(run.test, positions);
  input.by_autograd = run.by_autograd;
  return input;
}

}  // namespace ringcheck::parity
