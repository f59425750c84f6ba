// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cp/layout/positions.h"
#include "parity/judge/conservation/conservation.h"
#include "parity/judge/oracle.h"

namespace ringcheck::parity {

// The whole sequence of a case for the conservation laws, slots without a token zero. Where the
// subject shows rotated q and k, its gradients are turned into their frame; otherwise everything
// stays as given. Every token sees itself: the queries that see no key are pad slots.
AttentionShard attention_of(const Case& test, const Problem& problem, const Outcome& outcome);

// Of the slots at these positions, so many at a time that the copies of a long sequence fit beside it: of each tensor
// at most so many elements. Throws std::invalid_argument where shapes disagree.
ConservationSums sums_of_slots(const AttentionShard& whole, const Positions& own, int64_t most_elements = 1 << 25);

// By what the subject promises.
Arithmetic arithmetic_of(const Case& test, const Promise& promise, const Outcome& outcome);

}  // namespace ringcheck::parity
