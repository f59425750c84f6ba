// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "parity/faults/fault.h"

namespace ringcheck::parity {

// A fault that hangs costs a short deadline a run; the others must not be mistaken for one.
std::chrono::milliseconds deadline_of(const Fault& fault);

// What a fault of the subject makes of a case: for judges with criteria of their own. Nothing
// where the run ended in a hang or a crash. A case of world 1 is the same subject, undivided.
std::optional<Outcome> faulty_outcome(const Fault& fault, const Case& test);

// Does a fault of the subject leave every tensor of a case as it is, bit for bit?
bool changes_no_bit(const Fault& fault, const Case& test);

}  // namespace ringcheck::parity
