// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "parity/case/case_space.h"
#include "parity/judge/verdict.h"

namespace ringcheck::search {

// (what of a case, which): ("world", "3"), ("length against granule", "one over"), ...
using Cell = std::pair<std::string, std::string>;

// The cells a case lies in; with its verdict also the rank that owns the worst element.
std::vector<Cell> cells_of(const parity::Verdict& verdict);

// How many judged cases lie in each cell. A required cell that stays empty fails a run.
class Coverage {
 public:
  // Required is what the space can draw: every world, rotation, balancer, kernel, mask, dtype, data
  // family, query group and remainder, and the first, the last and another rank as the owner of
  // the worst element.
  explicit Coverage(const parity::CaseSpace& space);

  void add(const parity::Verdict& verdict);  // counts where it passed or failed
  void require(const Cell& cell) { count_[cell.first].try_emplace(cell.second, 0); }
  std::vector<Cell> missing() const;
  std::string table() const;
  nlohmann::json json() const;

 private:
  std::map<std::string, std::map<std::string, int>> count_;  // required ones begin at 0
};

}  // namespace ringcheck::search
