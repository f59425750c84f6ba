// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/history.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/envelope.h"
#include "reports/history/deflate.h"
#include "reports/history/insert.h"
#include "reports/history/schema.h"

namespace ringcheck::reports {

History::History(const std::string& path, Missing missing)
    : database_(path, missing == Missing::kCreate) {
  // Once there are tables it is too late; a write for nothing.
  if (missing == Missing::kCreate && database_.value("PRAGMA page_count") == "0")
    database_.execute("PRAGMA auto_vacuum = INCREMENTAL");
  migrate(database_, missing == Missing::kCreate);
  database_.execute("PRAGMA foreign_keys = ON");
  database_.execute("PRAGMA synchronous = FULL");  // what is committed survives a loss of power
  // Readers go on beside a writer. Where another process is at work just now, a later one sets it.
  if (!database_.read_only()) database_.execute_unless_busy("PRAGMA journal_mode = WAL");
}

std::vector<bool> History::add(const std::vector<Run>& runs, const std::string& branch) {
  std::vector<bool> added;
  Transaction transaction(database_);
  Inserter insert(database_);
  for (const Run& run : runs) added.push_back(insert(run, branch));
  transaction.commit();
  return added;
}

std::vector<ListedRun> History::list(int64_t last) {
  Statement rows(database_,
                 "SELECT * FROM (SELECT id, kind, started, commit_id, branch, host, device, command, "
                 "cases, passed, failed, not_supported, skipped, inconclusive, hang, crash, "
                 "(SELECT count(*) FROM points WHERE points.run = runs.run), run "
                 "FROM runs ORDER BY started DESC, run DESC LIMIT ?) ORDER BY started, run");
  rows.with(last == 0 ? int64_t{-1} : last);
  std::vector<ListedRun> list;
  while (rows.step())
    list.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4), rows.text(5),
                    rows.text(6), rows.text(7),
                    {rows.integer(8), rows.integer(9), rows.integer(10), rows.integer(11),
                     rows.integer(12), rows.integer(13), rows.integer(14), rows.integer(15)},
                    rows.integer(16)});
  return list;
}

std::string History::find(const std::string& beginning) {
  const std::string name = "'" + database_.path() + "' ";
  const bool latest = beginning == "latest";
  Statement found(database_, latest ? "SELECT id FROM runs ORDER BY started DESC, run DESC LIMIT 1"
                                    : "SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2");
  if (!latest) found.with(beginning);
  if (beginning.empty() || !found.step())
    throw BadHistory(name + "has no run '" + beginning + "'; `ringcheck report list` has their ids");
  const std::string id = found.text(0);
  if (found.step())
    throw BadHistory(name + "has several runs '" + beginning + "...'; give more of the id");
  return id;
}

std::string History::text(const std::string& id) {
  Statement row(database_,
                "SELECT bytes, deflated FROM results JOIN runs USING (run) WHERE id = ?");
  if (!row.with(id).step()) throw BadHistory("'" + database_.path() + "' has no run '" + id + "'");
  const int64_t bytes = row.integer(0);
  if (bytes < 0 || static_cast<uintmax_t>(bytes) > kMostBytes)
    cannot_read(id, "it has " + std::to_string(bytes) + " bytes, and may have " + std::to_string(kMostBytes));
  try {
    return inflated(row.text(1), static_cast<size_t>(bytes));
  } catch (const std::invalid_argument& error) {
    cannot_read(id, error.what());
  }
}

nlohmann::json History::file(const std::string& id) try {
  return parse_json(text(id));
} catch (const std::invalid_argument& error) {
  cannot_read(id, error.what());
}

void History::cannot_read(const std::string& id, const std::string& why) const {
  throw BadHistory("run " + id + " of '" + database_.path() + "' is damaged: " + why +
                   "; add its result again to a new history");
}

int64_t History::remove(const std::string& which, const std::string& value) {
  Transaction transaction(database_);
  Statement(database_, "DELETE FROM runs WHERE " + which).with(value).run();
  const int64_t removed = database_.rows_changed();
  database_.execute(
      "DELETE FROM series WHERE series NOT IN (SELECT series FROM points);"
      "DELETE FROM cases WHERE case_id NOT IN (SELECT case_id FROM verdicts);"
      "PRAGMA incremental_vacuum");
  transaction.commit();
  database_.execute_unless_busy("PRAGMA wal_checkpoint(TRUNCATE)");
  return removed;
}

int64_t History::keep_newest(int64_t keep) {
  return remove("run NOT IN (SELECT run FROM runs ORDER BY started DESC, run DESC LIMIT ?)",
                std::to_string(keep));
}

int64_t History::remove_before(const std::string& time) { return remove("started < ?", time); }

}  // namespace ringcheck::reports
