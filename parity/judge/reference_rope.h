// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/case/case.h"
#include "parity/subject/promise.h"
#include "reference/rope.h"

namespace ringcheck::parity {

// The rotary embedding of a case in the words of the reference, and what the promise of a subject
// says of its angles.
reference::Rope reference_rope(const Case& test);
reference::Rope reference_rope(const Case& test, const Promise& promise);

// Of each pair of channels (a, b) that the embedding turns: sqrt(a^2 + b^2), in the places of both.
at::Tensor pair_norms(const at::Tensor& x, reference::Rope::Pairing pairing);

}  // namespace ringcheck::parity
