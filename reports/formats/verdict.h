// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reports/result.h"

// What a whole result says, as every rendering begins with it.
namespace ringcheck::reports {

// Of its cases; where its kind has none 0, or 77 where nothing was measured either.
int exit_code_of(const Result& result);

// In a word: PASS, FAIL.
std::string verdict_word(int exit_code);

// Cases by verdict, in a fixed order.
std::vector<std::pair<std::string, int64_t>> counts_of(const Result& result);

// "352 cases: 351 passed, 1 FAILED; 27.7 s, 12.7 cases/s".
std::string counts_text(const Result& result);

}  // namespace ringcheck::reports
