// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/history/database.h"

namespace ringcheck::reports {

// The runs that a page shows, oldest first.
struct ChosenRuns {
  struct Row {
    int64_t number;  // in the tables
    std::string id, kind;
    size_t machine;  // which of those that occur
    std::string branch;
    bool cases;      // has some
  };
  std::vector<Row> rows;
  std::map<int64_t, size_t> at;  // number to row
  std::vector<std::pair<int64_t, int64_t>> stretches;  // of numbers, first and last
  int64_t all = 0;               // runs that there are

  // The newest that satisfy, at most one of each machine, branch and kind, newest first.
  std::vector<size_t> newest_of_each(bool (*wanted)(const Row&)) const;
};

// The newest `last`, or all where that is 0; what the page says of them goes into `page`.
ChosenRuns choose_runs(Database& database, int64_t last, nlohmann::json& page);

}  // namespace ringcheck::reports
