// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/subject.h"

namespace ringcheck::parity {

// The nearest case that a subject takes, wider where it promises no more than the loosest rounding.
Case nearest_case(const Subject& subject, const Case& test);

}  // namespace ringcheck::parity
