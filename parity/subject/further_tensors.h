// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cp/worlds/communicator.h"
#include "parity/subject/outcome.h"

namespace ringcheck::parity {

// Tensors beside O, LSE and the gradients, each as its placement says, into an outcome. Ranks that do
// not return the same ones, or copies that differ, are noted as missing, with the rank. Collective.
void collect_further(Communicator& comm, const Case& test, const RankOutput& own, Outcome& outcome);

// The same of ranks that are all here.
void put_together_further(const Case& test, const std::vector<RankOutput>& ranks,
                          Outcome& outcome);

}  // namespace ringcheck::parity
