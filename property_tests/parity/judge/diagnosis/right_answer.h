// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "parity/subject/outcome.h"

namespace ringcheck::parity {

// A case and an outcome of it, to be spoilt.
struct Judged {
  Case test;
  Problem problem;
  Outcome outcome;

  std::vector<std::string> lines(const std::set<std::string>& wrong) const;  // of the diagnosis
};

// The right answer in float64, by the reference: rotated as the case says, with empty pads.
Judged right(const std::string& text);

}  // namespace ringcheck::parity
