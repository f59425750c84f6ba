// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "reports/result.h"

// Texts of a history stand in tables, on pages and on terminals.
namespace ringcheck::reports {

inline constexpr size_t kMostOfName = 255;        // bytes: of a branch, as Git and file systems have it
inline constexpr size_t kMostOfFact = 4096;       // of a machine or a program
inline constexpr size_t kMostOfText = 1U << 20U;  // of what may list documents or files

// Why a text is not at most so many bytes of UTF-8 without control characters, with value, limit and
// fix; empty: it is.
std::string not_plain(const std::string& text, size_t most);

// Throws std::invalid_argument where a name or a fact of a result is not plain. What a run found and
// logged may be any text.
void check_plain(const Environment& environment);
void check_plain(const Result& result);

}  // namespace ringcheck::reports
