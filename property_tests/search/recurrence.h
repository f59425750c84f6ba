// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "property_tests/search/workers.h"

namespace ringcheck::search {

// How often a failing case failed when it was run again, with the same bits going in.
struct Recurrence {
  int failed = 0, runs = 0;
};

// "deterministic"; "intermittent, 2 of 5": a race, or hardware; "not reproduced, 0 of 5": what was
// around it, or rarer still; "not run again".
std::string to_text(const Recurrence& recurrence);

bool fails(const parity::Verdict& verdict);  // fail, hang or crash

Recurrence run_again(Workers& workers, const parity::Case& test, int runs = 5);

}  // namespace ringcheck::search
