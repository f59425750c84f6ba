// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/outcome.h"

namespace ringcheck::parity::plain {

// What a subject would give that is right, and known to be: attention in plain loops, rounded once
// to the dtype of the case, with counters that are their closed forms. Shares no arithmetic with
// any subject, so that a wrong one is not taken for a wrong judging.
Outcome answer(const Run& run);

// Whose promise holds of such an answer. Asked for its promises alone: to run it is a logic error.
const Subject& subject();

}  // namespace ringcheck::parity::plain
