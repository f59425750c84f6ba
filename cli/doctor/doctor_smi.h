// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/probe.h"

namespace ringcheck::cli {

// A line of `nvidia-smi --query-...`: each field with its value as printed.
using Row = std::map<std::string, std::string>;

// Nothing where the field was not asked for, or nvidia-smi has no value: "[N/A]",
// "[Not Supported]".
std::optional<std::string> value(const Row& row, const std::string& field);
std::optional<double> number(const Row& row, const std::string& field);

// Lines of comma-separated values that have all the fields, the first of which is the index or the
// id of a GPU; other lines are left out. The last value may have commas in it.
std::vector<Row> parse_rows(const std::string& text, const std::vector<std::string>& fields);

// The field that nvidia-smi does not know, as its complaint names it.
std::optional<std::string> unknown_field(const std::string& text);

// What a query gave: rows, or why there are none.
struct Queried {
  std::vector<Row> rows;
  Answer answer;
};

// The nvidia-smi at a path, with so many seconds for each call.
struct Smi {
  std::string path;
  double seconds = 10;

  Answer ask(std::vector<std::string> words) const;
  // Fields that this nvidia-smi does not know are left out; "new|old" asks for old where new is
  // unknown, and its value stands under "new".
  Queried query(const std::string& what, const std::vector<std::string>& fields) const;
};

}  // namespace ringcheck::cli
