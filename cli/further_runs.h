// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/supervisor.h"

namespace ringcheck::cli {

// Runs failed cases 5 times more and adds to the findings of each how often it fails again: what is
// not the same every time is a race, or the machine. The verdict stays. Of the first 3 that fail,
// but for those that take more than 10 s.
void run_failures_again(const std::vector<parity::Case>& cases, SupervisorOptions options,
                        std::vector<reports::CaseResult>& results);

}  // namespace ringcheck::cli
