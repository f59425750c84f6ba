// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// Cases that failed, crashed or hung, counted by what would explain them, else by why; those that are most first. For
// more of them than are written in full, that one cause is not taken for many. Empty for fewer.
std::string causes(const std::vector<CaseResult>& cases, size_t in_full);

}  // namespace ringcheck::reports
