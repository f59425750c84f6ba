// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/case/case.h"

// Data that its case shows something of: where scores are far apart one key takes all and dQ and dK
// vanish, and where they are nearly equal 16 bits leave nothing of these.
namespace ringcheck::parity {

// Where scores would be too far apart: softer data, or the usual scale.
void soften(Case& test);

// The same of a case that was changed and whose dtype is given.
void suit_data(Case& test);

}  // namespace ringcheck::parity
