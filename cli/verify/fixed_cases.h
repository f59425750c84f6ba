// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::cli {

// What stands in a profile whatever is drawn: cases on which somebody was once wrong, shards beside
// the edges of tiles, the shapes that kernels were calibrated at, positions that 16 bits do not
// hold. On a device; a kernel that is not there is replaced.
std::vector<parity::Case> fixed_cases_of_smoke(const std::string& device);
std::vector<parity::Case> fixed_cases_of_conformance(const std::string& device);
std::vector<parity::Case> fixed_cases_of_stress(const std::string& device);

}  // namespace ringcheck::cli
