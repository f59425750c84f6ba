// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ringcheck::cli {

// What an external program said.
struct Answer {
  std::string text;      // stdout and stderr
  std::string failure;   // "exit code 9", "no answer within 10 s"; empty after exit code 0
  bool stopped = false;  // it had to be killed
};

// Runs a program, its path first, for at most `seconds`. Never waits longer than two seconds more,
// not even for a program that cannot be killed.
Answer ask(const std::vector<std::string>& words, double seconds);

// The first line that says something, with nothing in it that a terminal would obey.
std::string excerpt(const std::string& text);

std::vector<std::string> lines_of(const std::string& text);
// 1.5 -> "1.5", 2.0 -> "2"
std::string short_number(double value);
std::string gibibytes(double bytes);

}  // namespace ringcheck::cli
