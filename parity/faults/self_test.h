// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/faults/fault.h"

namespace ringcheck::parity {

// What the judging let through, or refused, on outcomes of which the answer is known.
struct SelfTest {
  int64_t demands = 0;
  std::vector<std::string> failures;  // demands that were not met, in words
};

// Does the judging accept a clean outcome, and reject it with any one of its tensors replaced by
// zeros, a constant, NaN on one rank, nothing, the output of the case before, that of another
// seed, that of float32 arithmetic (in float64), or one element moved beyond its bound? Every
// oracle is asked about the tensors that it claims: those it passes, by name, on the clean
// outcome. A contract oracle must reject counters of zero and those of the case before. One that
// compares runs with each other must reject NaN in all of them.
SelfTest self_test(at::ScalarType dtype, const std::vector<std::string>& oracles,
                   const AskOracle& judge);

// The judging as it is.
OracleVerdict judge_plainly(const Oracle& oracle, const Evidence& evidence);

}  // namespace ringcheck::parity
