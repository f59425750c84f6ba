// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "parity/judge/verdict.h"
#include "parity/subject/outcome.h"

namespace ringcheck::parity {

// The q and k of an outcome, as its subject says that it attended them, beside those of the problem,
// rotated by the global position of every slot in its document, whose angle may be off by what the
// promise says (docs/numerics.md). Both must be there.
std::vector<TensorVerdict> judge_rotated(const Case& test, const Promise& promise,
                                         const Problem& problem, const Outcome& outcome);

}  // namespace ringcheck::parity
