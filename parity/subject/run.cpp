// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/run.h"

namespace ringcheck::parity {

RankInput input_of(const Run& run, int rank) {
  const Positions positions = layout_of(run.test).queries.at(rank);
  RankInput input{run.problem(run.test, positions), positions};
  if (run.meanwhile) input.meanwhile = run.meanwhile(run.test, positions);
  return input;
}

}  // namespace ringcheck::parity
