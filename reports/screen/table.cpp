// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/screen/table.h"

#include <algorithm>
#include <numeric>

#include "reports/text.h"

namespace ringcheck::reports {
namespace {

const std::string kIndent = "  ", kCut = "..";

std::string cut(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - kCut.size()) + kCut;
}

size_t together(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kIndent.size() + widths.size() - 1);
}

}  // namespace

Table::Table(std::vector<std::string> header, size_t words)
    : header_(std::move(header)), words_(words) {}

void Table::add(Row row, std::string note) {
  lines_.push_back({std::move(row), std::move(note)});
}

void Table::rule() { lines_.emplace_back(); }

std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths;
  for (const std::string& name : header_) widths.push_back(name.size());
  for (const Line& line : lines_)
    for (size_t i = 0; i < line.row.size(); ++i)
      widths[i] = std::max(widths[i], line.row[i].text.size());
  if (const size_t all = together(widths); all > kColumns) {
    size_t& widest = *std::max_element(widths.begin(), widths.begin() + words_);
    widest -= std::min(all - kColumns, widest - kCut.size());
  }
  return widths;
}

std::string Table::line(const Row& row, const std::vector<size_t>& widths,
                        const Paint& paint) const {
  std::string text = kIndent;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string shown = cut(row[i].text, widths[i]);
    const std::string space(widths[i] - shown.size(), ' ');
    const std::string painted = row[i].tone == Tone::kPlain ? shown : paint(row[i].tone, shown);
    text += (i == 0 ? "" : " ") + (i < words_ ? painted + space : space + painted);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string Table::text(const Paint& paint) const {
  const std::vector<size_t> wide = widths();
  const std::string rule = kIndent + std::string(together(wide) - kIndent.size(), '-') + "\n";
  std::string text = line(Row(header_.begin(), header_.end()), wide, paint) + rule;
  for (const Line& one : lines_) {
    text += one.row.empty() ? rule : line(one.row, wide, paint);
    if (!one.note.empty()) text += "    " + wrapped(one.note, 4, 4) + "\n";
  }
  return text;
}

}  // namespace ringcheck::reports
