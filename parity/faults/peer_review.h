// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "parity/faults/fault.h"
#include "parity/judge/verdict.h"

namespace ringcheck::parity {

// What the tests of other projects would say of a case with a bug in it: kFail, they notice; kPass,
// they let it through; kInconclusive, they reject the case without the bug as well;
// kNotApplicable, they look at nothing of it. A run that hangs or crashes is noticed by all.
std::map<std::string, Status> peer_review(const Fault& fault, const Case& test);

}  // namespace ringcheck::parity
