// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "reports/history/database.h"
#include "reports/history/run.h"

namespace ringcheck::reports {

// A row of the list of runs.
struct ListedRun {
  std::string id, kind, started, commit, branch, host, device, command;
  Summary summary;
  int64_t measurements = 0;
};

// Many results in one SQLite file (docs/results.md). Throws BadHistory.
class History {
 public:
  enum class Missing { kRefuse, kCreate };
  explicit History(const std::string& path, Missing missing = Missing::kRefuse);

  // All of them or, where it throws, none; on disk when it returns. Says of each whether it is new:
  // what is there already is not added again.
  std::vector<bool> add(const std::vector<Run>& runs, const std::string& branch);

  // Oldest first; at most the newest `last`, unless that is 0.
  std::vector<ListedRun> list(int64_t last = 0);

  // The one run whose id begins so, or "latest".
  std::string find(const std::string& beginning);
  // The file that was added, by its whole id.
  std::string text(const std::string& id);
  nlohmann::json file(const std::string& id);  // what it says

  // Removes all but the newest `keep`, or all that started before a time; returns how many.
  int64_t keep_newest(int64_t keep);
  int64_t remove_before(const std::string& time);

  Database& database() { return database_; }

 private:
  [[noreturn]] void cannot_read(const std::string& id, const std::string& why) const;
  int64_t remove(const std::string& which, const std::string& value);

  Database database_;
};

}  // namespace ringcheck::reports
