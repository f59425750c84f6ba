// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/detection/kill_matrix.h"

namespace ringcheck::cli {

// A table for each group of faults: what is wrong, who killed it first in each dtype and in each
// profile, when, and who else saw it. What a fault is says the catalogue of this build.
std::string fault_tables(const KillMatrix& matrix, const std::vector<KillMatrix>& profiles);

}  // namespace ringcheck::cli
