// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/faults/self_test/demands.h"
#include "parity/subject/outcome.h"
#include "parity/subject/run.h"

namespace ringcheck::parity {

// Do the further runs that a relation asks for change what they are known to change: parts of the case,
// which of q, k, v and dO, how the subject is called?
void examine_runs(const std::string& oracle, const std::vector<Run>& runs, const Case& test,
                  const Problem& problem, SelfTest& result);

}  // namespace ringcheck::parity
