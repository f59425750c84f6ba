// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parity/judge/observed.h"
#include "parity/judge/verdict.h"

namespace ringcheck::parity {

// A case before its oracles.
struct Trial {
  Case test;
  const Subject& subject;  // asked for its promises alone
  std::vector<std::string> oracles;
  int64_t sample = 0;      // of Evidence
  std::function<void()> tick = [] {};
  std::string kept = {};   // of Evidence
};

// The verdict on what was observed of a problem, on its device: a function of these, to the last bit.
Verdict judged(const Trial& trial, const Problem& problem, const Observed& observed);

}  // namespace ringcheck::parity
