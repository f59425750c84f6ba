// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "parity/faults/self_test/demands.h"
#include "parity/judge/comparison.h"

namespace ringcheck::parity {

// The arithmetic between errors and a verdict: as it is, or spoilt by whoever tests the test.
struct JudgeArithmetic {
  std::function<Tally(const Compared&, int64_t seq)> tally = parity::tally;
  std::function<TensorVerdict(const Case&, const std::string&, const Tallied&)> judge =
      parity::judge;
  std::function<TensorVerdict(const Promise&, TensorVerdict)> charted = parity::charted;
  std::function<Status(const std::vector<TensorVerdict>&)> status_of = parity::status_of;
  std::function<Status(const std::vector<OracleVerdict>&)> overall = parity::overall;
};

// Elements whose error is known in units of what is allowed: HARD, STAT and VACUITY of
// docs/numerics.md must pass just below their limit and refuse just above it, at every position,
// and so on every rank; the figures must be those that were put in, also where a tensor is tallied
// in parts.
void examine_elements(const JudgeArithmetic& arithmetic, SelfTest& result);

// CHART and BIAS on both sides of what is expected, and what follows for a case from many verdicts.
void examine_rules(const JudgeArithmetic& arithmetic, SelfTest& result);

}  // namespace ringcheck::parity
