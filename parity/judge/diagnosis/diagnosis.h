// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "parity/judge/verdict.h"
#include "parity/subject/outcome.h"

namespace ringcheck::parity {

// What would explain the tensors of an outcome that are wrong, in words, a line for each: they are a multiple of the
// truth (meanings.h), they stand in another order (reordered.h), they are what a usual mistake gives (alternatives.h), they
// were rounded, or they are wrong in some place alone (nearness.h). It judges nothing, and is the work of one thread. Empty
// where nothing fits, and where a case is large: more than 2^19 scores of a key-value head, 2^24 in all, 2^22 numbers of a
// tensor, or 256 key-value heads of a batch.
std::vector<std::string> diagnosis(const Case& test, const std::function<Problem()>& problem, const Outcome& outcome,
                                   const std::set<std::string>& wrong, const std::function<void()>& tick);

// Of a verdict, if it fails, by what its oracles found wrong in values. It stands, whatever becomes of that.
void explain(Verdict& verdict, const std::function<Problem()>& problem, const Outcome& outcome, const std::function<void()>& tick);

}  // namespace ringcheck::parity
