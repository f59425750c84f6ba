// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/kill_matrix.h"

#include <algorithm>

namespace ringcheck::cli {

using parity::Cell;
using parity::Score;

std::vector<std::string> dtypes_of(const KillMatrix& matrix) {
  std::vector<std::string> names;
  for (const Cell& cell : matrix.cells)
    if (const auto name = parity::dtype_text(cell.dtype);
        std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return names;
}

Score score_in(const KillMatrix& matrix, const std::string& dtype) {
  std::vector<Cell> cells = matrix.cells;
  std::erase_if(cells, [&](const Cell& c) { return parity::dtype_text(c.dtype) != dtype; });
  return parity::score_of(cells);
}

Score score_by_fault(const KillMatrix& matrix) {
  std::map<std::string, Cell> best;
  for (const Cell& cell : matrix.cells) {
    if (cell.result == Cell::Result::kNotApplicable) continue;
    Cell& kept = best.try_emplace(cell.fault, cell).first->second;
    if (cell.result == Cell::Result::kKilled &&
        (kept.result != Cell::Result::kKilled || !kept.localised))
      kept = cell;
  }
  std::vector<Cell> cells;
  for (const auto& [name, cell] : best) cells.push_back(cell);
  return parity::score_of(cells);
}

std::map<std::string, TimesAsked> times_asked(const KillMatrix& matrix) {
  std::map<std::string, TimesAsked> asked;
  for (const Cell& cell : matrix.cells)
    for (const auto& [oracle, status] : cell.seen_by) {
      asked[oracle].times += status != parity::Status::kNotApplicable;
      asked[oracle].saw += status == parity::Status::kFail;
    }
  return asked;
}

std::vector<std::string> unclean(const KillMatrix& matrix) {
  std::vector<std::string> all;
  for (const Cell& cell : matrix.cells)
    for (const std::string& what : cell.unclean)
      if (std::ranges::find(all, what) == all.end()) all.push_back(what);
  return all;
}

}  // namespace ringcheck::cli
