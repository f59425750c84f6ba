// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "reports/result.h"

namespace ringcheck::reports {

// Pass or fail: something was found out.
bool was_judged(Status verdict);

// What is wrong with a case, by oracle and tensor: "parity: dq", "census", "hang"; and whether only
// a counter or memory contract is violated.
std::map<std::string, bool> failures_of(const CaseResult& test);

}  // namespace ringcheck::reports
