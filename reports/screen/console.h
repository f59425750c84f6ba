// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/result.h"
#include "reports/screen/tone.h"

namespace ringcheck::reports {

// What runs where: the first lines of every report.
std::string console_header(const Environment& environment, const std::string& what,
                           const Paint& paint = unpainted);
// Counted as failed: wrong, or without an end.
bool is_bad(Status verdict);
// A line per case, for those who ask.
std::string console_line(const CaseResult& test, const Paint& paint = unpainted);
// The verdict of a run that ends with this code, the table by group, then everything that did not pass.
// Nothing is wider than kColumns but the text of a case.
std::string console_report(const Result& result, int exit_code, const Paint& paint = unpainted);

}  // namespace ringcheck::reports
