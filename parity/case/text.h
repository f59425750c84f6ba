// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/case/case.h"
#include "parity/case/text/nearest.h"

namespace ringcheck::parity {

// "name[a,b]" taken apart. Throws BadCase where the brackets do not match.
struct Call {
  std::string name;
  std::vector<std::string> arguments;
};
Call parse_call(const std::string& text);

// Splits at `separator` outside brackets.
std::vector<std::string> split(const std::string& text, char separator);

double parse_number(const std::string& text);    // throws BadCase
std::string number_text(double value);           // the shortest that parses back

template <class Table>
void known_name(const char* family, const std::string& name, const Table& table) {
  if (table.count(name) > 0) return;
  std::vector<std::string> names;
  for (const auto& [known, entry] : table) names.push_back(known);
  throw BadCase(unknown_name(family, name, names));
}

}  // namespace ringcheck::parity
