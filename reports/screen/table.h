// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/screen/tone.h"

namespace ringcheck::reports {

// A table for a terminal: a header, a rule, rows. Columns are as wide as what is in them; where that
// is more than kColumns, the widest column of words is cut.
class Table {
 public:
  struct Entry {
    std::string text;
    Tone tone = Tone::kPlain;
    Entry(std::string t, Tone as = Tone::kPlain) : text(std::move(t)), tone(as) {}
    Entry(const char* t) : text(t) {}
  };
  using Row = std::vector<Entry>;

  // The first `words` columns hold words, to the left; the others figures, to the right.
  Table(std::vector<std::string> header, size_t words);
  void add(Row row, std::string note = "");  // a note stands in lines of its own below its row
  void rule();  // between the rows before and those behind
  std::string text(const Paint& paint) const;

 private:
  std::vector<size_t> widths() const;
  std::string line(const Row& row, const std::vector<size_t>& widths, const Paint& paint) const;

  std::vector<std::string> header_;
  size_t words_;
  struct Line {
    Row row;  // an empty one is a rule
    std::string note;
  };
  std::vector<Line> lines_;
};

}  // namespace ringcheck::reports
