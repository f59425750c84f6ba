// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/outcome.h"
#include "reference/bounds.h"

namespace ringcheck::parity {

// The truth about an outcome of these tensors, on exactly the q and k that were attended, and how
// far an implementation with the contract of the case's kernel may be from it.
reference::Judgement truth_of(const Case& test, const Problem& problem, const Outcome& outcome,
                              const std::function<void()>& tick);

}  // namespace ringcheck::parity
