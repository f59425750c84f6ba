// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

std::string fixed(double value, int decimals);
std::string figure(double value);  // about four significant digits, at most eight characters
std::string short_figure(double value);  // at most six characters, for a column
std::string left(const std::string& text, size_t width);
std::string right(const std::string& text, size_t width);
std::string seconds_text(double seconds);  // 12.3 s, 4 min 5 s

// What a terminal shows in a line.
inline constexpr size_t kColumns = 80;
// In lines of at most `columns`, broken at spaces; all but the first begin with `indent` spaces, and
// before the first stands what takes `taken` columns. A longer word has a line of its own.
std::string wrapped(const std::string& text, size_t indent, size_t taken = 0,
                    size_t columns = kColumns);

// The bytes of the UTF-8 character at `text[at]`, or 0 where there is no valid one.
size_t utf8_length(const std::string& text, size_t at);
// Whether that character is one of control: U+0000 to U+001F, U+007F, and U+0080 to U+009F, which some
// terminals obey, too; has no width, breaks lines, or turns the direction of what follows (U+061C, U+200B to U+200F, U+2028 to U+202E, U+2066 to U+2069).
bool is_control(const std::string& text, size_t at);
// For a line that people see: what controls a terminal, and what is no UTF-8, as \x1b.
std::string visible(const std::string& text);
// One word for a shell.
std::string shell_word(const std::string& text);
// XML text or attribute: escaped, without what XML 1.0 cannot hold, and valid UTF-8.
std::string xml_escaped(const std::string& text);

// What is wrong with a case in a line; empty on a pass.
std::string headline(const CaseResult& test);
// And in full: whether it fails again, what each failed oracle found, or what the ranks were doing.
std::vector<std::string> findings_of(const CaseResult& test);
// The finding of a failed case that was run again.
std::string failed_again(int times, int of_runs);

}  // namespace ringcheck::reports
