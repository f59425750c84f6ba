// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "parity/subject/subject.h"

namespace ringcheck::parity {

// For subjects that answer for all ranks at once: the problem that the ranks hold together, in the
// order of the sequence and as long as it, and its answer, in the same order, by rank.
Problem gathered(const Case& test, const std::vector<RankInput>& inputs);
std::vector<RankOutput> scattered(const Case& test, const RankOutput& whole);

}  // namespace ringcheck::parity
