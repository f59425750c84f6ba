// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/kill_matrix.h"
#include "parity/self_test.h"
#include "reports/result.h"

namespace ringcheck::cli {

// What a run of `ringcheck faults` found.
struct Detection {
  reports::Environment environment;
  std::vector<std::string> oracles;
  parity::SelfTest self_test;
  std::vector<parity::Cell> cells;
  double seconds = 0;
};

std::string console_text(const Detection& detection);
std::string markdown_text(const Detection& detection);  // headline, matrix by group, survivors
std::string json_text(const Detection& detection);      // a cell a line

}  // namespace ringcheck::cli
