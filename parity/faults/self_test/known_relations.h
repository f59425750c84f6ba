// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "parity/faults/self_test/demands.h"
#include "parity/judge/verdict.h"
#include "parity/subject/outcome.h"
#include "parity/subject/run.h"

namespace ringcheck::parity {

// Do the further runs of a relation change what they are known to change: parts of the case, which of q,
// k, v and dO, how the subject is called? Does its verdict speak of the tensors that it is known to
// compare? Nothing is demanded of one that is not known.
void examine_relation(const std::string& oracle, const std::vector<Run>& runs, const Case& test,
                      const Problem& problem, const OracleVerdict& clean, SelfTest& result);

// Is each further run another than that of the case, and than those before it, in what ranks are given or in how they are
// called, but where a relation asks for the same again? What it is known to change is changed by as much as it says.
void examine_runs(const std::string& oracle, const std::vector<Run>& runs, const Case& test, SelfTest& result);

// Does one without further runs judge all of the tensors that it is known to judge? Its verdict alone says what it claims.
void examine_claims(const std::string& oracle, const std::set<std::string>& names, SelfTest& result);

bool is_known_relation(const std::string& oracle);

// How many positions of a tensor an oracle compares.
int64_t positions_compared(const std::string& oracle, int64_t all);

}  // namespace ringcheck::parity
