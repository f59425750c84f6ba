// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/outcome.h"
#include "reference/errors/bounds.h"

namespace ringcheck::parity {

// What the reference is given to judge an outcome of these tensors: exactly the q and k that were
// attended.
reference::Inputs inputs_of(const Case& test, const Problem& problem, const Outcome& outcome);

// The truth about an outcome of these tensors, and how far an implementation with these promises
// may be from it.
reference::Judgement truth_of(const Case& test, const Promise& promise, const Problem& problem,
                              const Outcome& outcome, const std::function<void()>& tick);

}  // namespace ringcheck::parity
