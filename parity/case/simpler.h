// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "parity/case/case.h"

namespace ringcheck::parity {

// The cases that are simpler than this one in one part, boldest first: fewer ranks (from one on), a
// shorter sequence, a full mask, fewer and shorter documents, one head, one channel, no RoPE,
// float64, contiguous, seed 1. All of them are valid and supported; following them ends. Whatever
// case fails, however it was found, shrinks along them.
std::vector<Case> simpler(const Case& test);

}  // namespace ringcheck::parity
