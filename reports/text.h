// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

std::string fixed(double value, int decimals);
std::string figure(double value);  // about four significant digits, at most eight characters
std::string left(const std::string& text, size_t width);
std::string right(const std::string& text, size_t width);
std::string seconds_text(double seconds);  // 12.3 s, 4 min 5 s

// XML text or attribute: escaped, without what XML 1.0 cannot hold, and valid UTF-8.
std::string xml_escaped(const std::string& text);

// What is wrong with a case in a line; empty on a pass.
std::string headline(const CaseResult& test);
// And in full: whether it fails again, what each failed oracle found, or what the ranks were doing.
std::vector<std::string> findings_of(const CaseResult& test);
// The finding of a failed case that was run again.
std::string failed_again(int times, int of_runs);

}  // namespace ringcheck::reports
