// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/case/case.h"
#include "reference/rope.h"

namespace ringcheck::parity {

// The rotary embedding of a case in the words of the reference.
reference::Rope reference_rope(const Case& test);

}  // namespace ringcheck::parity
