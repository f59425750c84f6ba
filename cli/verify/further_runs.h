// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/workers/supervisor.h"

namespace ringcheck::cli {

// Runs the first 3 failed cases, of those that take at most 10 s, 5 times more, or as often as 10 s allow, each time in a new
// process, as many at a time as there are workers, and adds to their findings how often they fail again: what is not the same every time is
// a race, the machine, or what ran before in the same process. The verdict stays.
void run_failures_again(const std::vector<parity::Case>& cases, SupervisorOptions options,
                        std::vector<reports::CaseResult>& results);

}  // namespace ringcheck::cli
