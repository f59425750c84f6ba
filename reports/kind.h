// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringcheck::reports {

// Whose file a result is. A kind with a structure of its own has it in one member of its name.
enum class Kind { kVerify, kFaults, kSensitivity, kGuard, kDoctor, kBench, kScaling, kSearch, kCompare, kPlan };

std::string to_text(Kind kind);
Kind parse_kind(const std::string& text);  // throws std::invalid_argument

// Whether it has `summary` and `cases`.
bool has_cases(Kind kind);

}  // namespace ringcheck::reports
