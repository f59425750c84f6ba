// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/faults/kill_matrix.h"

namespace ringcheck::parity {

// The cases of a list in which a subject on threads of this process can be hunted, those first that
// have most parts in common with a case of the fault, and of these the cheapest.
std::vector<Case> likely_first(const Fault& fault, std::vector<Case> list);

// Plants a fault of the subject in hunt.among, one case after the other, until one is killed that
// passes without the fault: Cell::test. Would a profile have seen it? `dtype` is that of the cell
// alone: the cases have their own.
Cell hunt_among(const std::string& fault, at::ScalarType dtype, const Hunt& hunt);

}  // namespace ringcheck::parity
