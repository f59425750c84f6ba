// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parity/case.h"

namespace ringcheck::cli {

// A shape on which somebody's context parallelism was once wrong.
struct Regression {
  std::string issue;   // where that was reported
  std::string text;    // the case
  bool large = false;  // takes seconds
};
const std::vector<Regression>& regressions();

// The issue behind a case, where its layout is one of these.
std::optional<std::string> upstream_issue(const parity::Case& test);

}  // namespace ringcheck::cli
