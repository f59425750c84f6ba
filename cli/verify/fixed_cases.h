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

// Of small cases whose ranks hold more than a tile, as many as it takes for every relation that they can draw to be drawn: of others a
// second tile has none. On the CPU.
std::vector<parity::Case> relations_beyond_a_tile();

}  // namespace ringcheck::cli
