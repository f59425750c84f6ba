// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cp/registry.h"
#include "parity/outcome.h"
#include "parity/verdict.h"
#include "reference/bounds.h"

namespace ringcheck::parity {

// What an oracle may look at.
struct Evidence {
  const Case& test;
  const Problem& problem;
  const Outcome& outcome;
  std::function<void()> tick;  // a sign of life during long work, of one thread at a time
  int64_t sample = 0;          // queries and keys of each head to judge; 0: all
};

// Judges an outcome. Adding one is one file in parity/oracles.
struct Oracle {
  std::string proves;  // in a sentence
  std::function<OracleVerdict(const Evidence&)> judge;
};
using Oracles = Registry<Oracle>;

// The numerics contract of the kernel of a case, for its dtype. Throws BadCase where the kernel's
// contract lists no such dtype.
reference::Contract contract_of(const Case& test);

}  // namespace ringcheck::parity
