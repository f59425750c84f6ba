// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/subject.h"

namespace ringcheck::parity {

// Of the pad slots of a rank: everything there must be zero, LSE -inf. Counted outside the subject.
WrongPads wrong_pads(const Case& test, const Positions& queries, const Positions& keys,
                     const RankOutput& output);

}  // namespace ringcheck::parity
