// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// For a job summary: the verdict of a run that ends with this code, what else it said, each failure
// with the command that reproduces it, the worst margins, what was judged by nobody, and what was measured.
std::string markdown(const Result& result, int exit_code, const std::vector<std::string>& notes);

}  // namespace ringcheck::reports
