// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cp/registry.h"

namespace ringcheck::fuzz {

// What reads text or a file that others wrote. Adding one is one file in parsers/, which also names
// it: it becomes a test, and a row of the night.
struct Parser {
  // Takes any bytes; false where it refused them. Exceptions that the parser documents are caught here;
  // every other one ends the run, as do a crash, a hang, a broken law and more memory than allowed().
  std::function<bool(const std::string& bytes)> parse;
  // Where the search begins: small pieces of files that are right, and are not refused.
  std::function<std::vector<std::string>()> seeds;
  // And such as are refused.
  std::function<std::vector<std::string>()> refused = [] { return std::vector<std::string>{}; };
};
using Parsers = Registry<Parser>;

// A file that holds these bytes until the next call.
std::string file_of(const std::string& bytes);

// What stands in a committed file of the repository.
std::string committed(const std::string& path);

// Ends the run where a law of a parser does not hold.
void demand(bool holds, const char* law);

// Heap that a parser may take at once, beside constants. A tree of JSON takes 16 bytes for a digit and
// its comma, and three times as many while an array grows.
constexpr size_t allowed(size_t bytes) { return (size_t{1} << 20) + 100 * bytes; }

}  // namespace ringcheck::fuzz
