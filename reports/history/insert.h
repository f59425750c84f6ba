// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "reports/history/database.h"
#include "reports/history/run.h"

namespace ringcheck::reports {

// Puts runs into the tables, within a transaction of its caller.
class Inserter {
 public:
  explicit Inserter(Database& database);
  // False where it is there already.
  bool operator()(const Run& run, const std::string& branch);

 private:
  int64_t insert_run(const Run& run, const std::string& branch);  // 0: it is there
  void insert_points(const Run& run, int64_t number);
  void insert_verdicts(const Run& run, int64_t number);

  Statement run_, result_, series_, point_, case_, verdict_;
};

}  // namespace ringcheck::reports
