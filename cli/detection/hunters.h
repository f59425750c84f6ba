// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parity/faults/kill_matrix.h"

namespace ringcheck::cli {

// A fault in a dtype, still to be hunted.
struct Quarry {
  std::string fault;
  at::ScalarType dtype = at::kDouble;
};

// Hunts all of them in this process, one after the other.
std::vector<parity::Cell> hunt_here(const std::vector<Quarry>& list, const parity::Hunt& hunt,
                                    const std::function<void(const parity::Cell&)>& done);

// The same in this many processes. One that dies costs the fault that it was at: a defect of
// the suite, entered as unclean. Cells come back in the order of the list.
std::vector<parity::Cell> hunt_in_processes(
    const std::vector<Quarry>& list, const parity::Hunt& hunt, size_t processes,
    const std::function<void(const parity::Cell&)>& done);

}  // namespace ringcheck::cli
