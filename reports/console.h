// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/result.h"

namespace ringcheck::reports {

// What ran where: the first lines of every report.
std::string console_header(const Environment& environment, const std::string& what);
// A line per case, for those who ask.
std::string console_line(const CaseResult& test);
// The table by group, at most 100 columns wide, then everything that did not pass, then the sum.
std::string console_report(const Result& result);

}  // namespace ringcheck::reports
