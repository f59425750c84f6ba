// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/judge/diagnosis/alternative_list.h"

namespace ringcheck::parity {

// Whose keys are attended, and for which positions the slots of a rank are taken.
void add_alternatives_of_ranks(const Asked& asked, AlternativeList& list);

}  // namespace ringcheck::parity
