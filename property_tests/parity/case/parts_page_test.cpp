// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

using Lines = std::vector<std::string>;

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

// A part without a piece of its own in the text of a case is said by the piece of another.
std::string prefix_of(const Part& part) { return part.claims ? code(part.prefix) : "no piece"; }

std::string row_of(const Part& part) {
  const std::string option = part.option.empty() ? "" : code("--" + part.option);
  return "| " + code(part.name) + " | " + option + " | " + prefix_of(part) + " | " + part.help +
         " | " + code(part.standard) + " |";
}

Lines expected_rows() {
  Lines rows;
  for (const Part& part : parts()) rows.push_back(row_of(part));
  return rows;
}

// The rows of the page whose first cell is code, between this heading and the next one.
Lines rows_below(const std::string& heading) {
  std::ifstream page(RINGCHECK_SOURCE_DIR "/docs/cli.md");
  Lines rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) inside = line == heading;
    else if (inside && line.starts_with("| `")) rows.push_back(line);
  }
  return rows;
}

std::string in_lines(const Lines& rows) {
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

// docs/cli.md has a row for every part of a case, in the order of the text, and no other.
TEST(PartsPage, IsTheTableOfParts) {
  EXPECT_THAT(rows_below("### Parts of a case"), testing::ElementsAreArray(expected_rows()))
      << "docs/cli.md, below \"### Parts of a case\", should say:\n"
      << in_lines(expected_rows());
}

// A bar within a cell would end it.
TEST(PartsPage, CellsHoldNoBar) {
  for (const Part& part : parts())
    for (const std::string& cell : {part.name, part.option, part.prefix, part.help, part.standard})
      EXPECT_EQ(cell.find('|'), std::string::npos) << part.name << ": " << cell;
}

}  // namespace
}  // namespace ringcheck::parity
