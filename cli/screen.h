// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <iosfwd>
#include <memory>
#include <string>

#include "reports/screen/tone.h"

// What people see: colour, width and help.
namespace ringcheck::cli {

// The option --color of a subcommand, and of those below it.
void add_color(CLI::App& subcommand);

// Help that fits a terminal.
std::shared_ptr<CLI::FormatterBase> narrow_help();

// How text on std::cout or std::cerr is painted: as --color says; without it in colour where the
// stream is a terminal and NO_COLOR is not set.
reports::Paint paint_on(const std::ostream& stream);

// What is wrong, for stderr: a line, or on a terminal as many as it takes.
std::string complaint(const std::string& text, const std::string& of = "ringcheck");

}  // namespace ringcheck::cli
