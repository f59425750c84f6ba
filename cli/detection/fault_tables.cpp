// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/fault_tables.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Cell;
using parity::Faults;

std::string mark(const Cell& cell) {
  switch (cell.result) {
    case Cell::Result::kKilled: return cell.killer + (cell.localised ? "" : " (not localised)");
    case Cell::Result::kSurvived: return "**survived**";
    case Cell::Result::kEquivalent: return "equivalent";
    case Cell::Result::kNotApplicable: return "-";
  }
  return "";
}

// Everybody who saw it in any dtype.
std::string seen_by(const std::vector<Cell>& cells) {
  std::set<std::string> seen;
  for (const Cell& cell : cells)
    for (const auto& [oracle, status] : cell.seen_by)
      if (status == parity::Status::kFail) seen.insert(oracle);
  return c10::Join(", ", seen);
}

// In the fastest dtype, in milliseconds.
std::string how_soon(const std::vector<Cell>& cells) {
  double first = std::numeric_limits<double>::infinity();
  for (const Cell& cell : cells)
    if (cell.result == Cell::Result::kKilled) first = std::min(first, cell.milliseconds);
  return std::isinf(first) ? "-" : reports::fixed(first, 1);
}

std::string without_pipes(std::string text) {
  std::ranges::replace(text, '|', '/');
  return text;
}

std::string header(const std::string& group, const std::vector<std::string>& dtypes,
                   const std::vector<KillMatrix>& profiles) {
  std::vector<std::string> columns = dtypes;
  for (const KillMatrix& profile : profiles) columns.push_back(profile.profile);
  std::string text = "\n### " + group + "\n\n| fault | stands for | " + c10::Join(" | ", columns) +
                     " | ms | seen by |\n|---|---|";
  for (size_t i = 0; i < columns.size() + 2; ++i) text += "---|";
  return text + "\n";
}

// What a profile makes of a fault; one of the judging is not planted there.
std::string mark_in(const KillMatrix& profile, const std::string& fault) {
  const auto cell = std::ranges::find(profile.cells, fault, &Cell::fault);
  return cell == profile.cells.end() ? "-" : mark(*cell);
}

std::string row(const std::string& name, const parity::Fault& fault,
                const std::vector<Cell>& cells, const std::vector<KillMatrix>& profiles) {
  std::string text = "| `" + name + "`: " + without_pipes(fault.wrong) + " | " +
                     c10::Join(" ", fault.operators) + " " + without_pipes(fault.stands_for) +
                     " |";
  for (const Cell& cell : cells) text += " " + mark(cell) + " |";
  for (const KillMatrix& profile : profiles) text += " " + mark_in(profile, name) + " |";
  return text + " " + how_soon(cells) + " | " + seen_by(cells) + " |\n";
}

}  // namespace

std::string fault_tables(const KillMatrix& matrix, const std::vector<KillMatrix>& profiles) {
  std::map<std::string, std::vector<Cell>> by_fault;
  for (const Cell& cell : matrix.cells) by_fault[cell.fault].push_back(cell);
  std::map<std::string, std::string> groups;
  for (const auto& [name, cells] : by_fault) {
    const parity::Fault& fault = Faults::at(name);
    std::string& table = groups[fault.group];
    if (table.empty()) table = header(fault.group, dtypes_of(matrix), profiles);
    table += row(name, fault, cells, profiles);
  }
  std::string text;
  for (const auto& [group, table] : groups) text += table;
  return text;
}

}  // namespace ringcheck::cli
