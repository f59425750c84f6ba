// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

// GitHub's and GitLab's Markdown.
namespace ringcheck::reports {

inline constexpr size_t kMarkdownRows = 50;  // of a table: a job summary holds 1 MiB

// What would end a cell of a table, or begin HTML, does not.
std::string cell(const std::string& text);
// In a cell, as code.
std::string code(const std::string& text);
// A block of lines to be copied.
std::string code_block(const std::string& text, const std::string& language);

}  // namespace ringcheck::reports
