// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/case/safetensors.h"
#include "parity/subject/outcome.h"

namespace ringcheck::parity {

// An outcome as tensors, with what its ranks counted, and back, to the same bits.
Safetensors file_of(const Outcome& outcome);
Outcome outcome_from(const Safetensors& file);  // throws std::invalid_argument

}  // namespace ringcheck::parity
