// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::parity {

// A case on which somebody's context parallelism was once wrong, or ours.
struct Regression {
  std::string text;    // the case
  std::string issue;   // where that was reported, or found
  std::string what;    // was wrong
  bool large = false;  // takes seconds
};

// Those of parity/case/regressions.txt.
const std::vector<Regression>& regressions();

// One line of that file, "CASE WHERE: WHY" or "large CASE WHERE: WHY". Throws BadCase.
Regression parse_regression(const std::string& line);

// The issue behind a case, where its layout is one of these.
std::optional<std::string> upstream_issue(const Case& test);

}  // namespace ringcheck::parity
