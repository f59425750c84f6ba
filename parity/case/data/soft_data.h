// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/case/case.h"

// Data that its case shows something of: where scores are far apart one key takes all and dQ and dK
// vanish, and where they are nearly equal 16 bits leave nothing of these.
namespace ringcheck::parity {

// Where scores would be too far apart: softer data, or the usual scale.
void soften(Case& test);

// The same of a case that was changed, whose dtype is given and whose rounding may be any.
void suit_data(Case& test);

// Of two channels the loosest rounding to 16 bits leaves too little of dK: eight. Whether it had fewer.
bool widen(Case& test);

}  // namespace ringcheck::parity
