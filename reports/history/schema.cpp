// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/schema.h"

namespace ringcheck::reports {
namespace {

// "RCkH": what `file` and we know a history by.
constexpr int kApplication = 0x52436b48;

struct Found {
  int64_t application, version;
  bool empty;
};

// In one statement: another process may be making a history of an empty file just now.
Found found_in(Database& database) {
  Statement row(database,
                "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) "
                "FROM pragma_application_id, pragma_user_version");
  row.step();
  return {row.integer(0), row.integer(1), row.integer(2) == 0};
}

int64_t version_of(Database& database, bool create, int64_t newest) {
  const Found found = found_in(database);
  const std::string name = "'" + database.path() + "' ";
  if (found.application != kApplication) {
    if (found.empty && found.version == 0 && create) return 0;
    throw BadHistory(name + (found.empty ? "is empty" : "is a database of something else") +
                     ", no history; want one of `ringcheck report add`");
  }
  if (found.version > newest)
    throw BadHistory(name + "has version " + std::to_string(found.version) +
                     ", and this program reads up to " + std::to_string(newest) +
                     "; want a newer ringcheck");
  return found.version;
}

}  // namespace

void migrate(Database& database, bool create, const std::vector<std::string>& steps) {
  const auto newest = static_cast<int64_t>(steps.size());
  if (version_of(database, create, newest) == newest) return;
  if (database.read_only())
    throw BadHistory("'" + database.path() + "' is of an older version, and cannot be written");
  Transaction transaction(database);
  for (auto done = static_cast<size_t>(version_of(database, create, newest)); done < steps.size(); ++done)
    database.execute(steps[done]);  // another process may have made some in the meantime
  database.execute("PRAGMA application_id = " + std::to_string(kApplication));
  database.execute("PRAGMA user_version = " + std::to_string(newest));
  transaction.commit();
}

const std::vector<std::string>& migrations() {
  static const std::vector<std::string> steps{
      R"sql(
CREATE TABLE runs (
  run INTEGER PRIMARY KEY,      -- in the order in which they were added
  id TEXT NOT NULL UNIQUE,      -- a UUID made of the content
  kind TEXT NOT NULL,
  started TEXT NOT NULL,        -- as the result has it: UTC, so that texts sort as times
  commit_id TEXT NOT NULL,
  branch TEXT NOT NULL,
  machine TEXT NOT NULL,        -- JSON: by what two runs may be compared
  host TEXT NOT NULL,
  device TEXT NOT NULL,
  command TEXT NOT NULL,
  version TEXT NOT NULL,
  wall_seconds REAL,
  cases INTEGER NOT NULL, passed INTEGER NOT NULL, failed INTEGER NOT NULL,
  not_supported INTEGER NOT NULL, skipped INTEGER NOT NULL, inconclusive INTEGER NOT NULL,
  hang INTEGER NOT NULL, crash INTEGER NOT NULL,
  tensors INTEGER NOT NULL,     -- of ranks that hold tokens, in the cases that ran
  unjudged INTEGER NOT NULL     -- of them, judged by nobody
);
CREATE INDEX runs_by_time ON runs (started, run);

CREATE TABLE results (          -- the whole result: its file, compressed by zlib
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  bytes INTEGER NOT NULL,       -- before compression
  deflated BLOB NOT NULL
);

CREATE TABLE series (           -- what was measured, of what
  series INTEGER PRIMARY KEY,
  name TEXT NOT NULL, parts TEXT NOT NULL, unit TEXT NOT NULL, better TEXT NOT NULL,
  UNIQUE (name, parts, unit, better)
);
CREATE TABLE points (           -- one measurement of one run
  series INTEGER NOT NULL REFERENCES series,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  median REAL,                  -- NULL where a sample is no number
  samples TEXT NOT NULL,        -- JSON
  keep_to REAL,                 -- its limit
  PRIMARY KEY (series, run)
) WITHOUT ROWID;
CREATE INDEX points_of_run ON points (run);

CREATE TABLE cases (
  case_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  parts TEXT NOT NULL           -- JSON
);
CREATE TABLE verdicts (         -- one case of one run
  case_id INTEGER NOT NULL REFERENCES cases,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  verdict TEXT NOT NULL,
  contract INTEGER NOT NULL,    -- 1: only a counter or memory contract is violated
  finding TEXT NOT NULL,        -- in a line; empty on a pass
  seconds REAL,
  margin REAL, worst_z REAL, vacuity REAL,  -- the largest of its tensors; NULL: nothing measured, or NaN
  unjudged INTEGER NOT NULL,    -- tensors of ranks that nobody judged
  counters TEXT NOT NULL,       -- JSON: sums over ranks, {"forward.messages": 12}
  PRIMARY KEY (case_id, run)
) WITHOUT ROWID;
CREATE INDEX verdicts_of_run ON verdicts (run, verdict);
)sql",
  };
  return steps;
}

}  // namespace ringcheck::reports
