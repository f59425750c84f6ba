// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A history keeps results whole, once, and all or none; what it cannot read it leaves as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"
#include "property_tests/reports/committed_results.h"
#include "property_tests/reports/full_result.h"
#include "property_tests/reports/history/many_runs.h"
#include "reports/envelope.h"
#include "reports/history/history.h"
#include "reports/history/schema.h"
#include "reports/history/trend.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;
using testing::read_text;
using testing::write_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using HistoryRun = reports::Run;  // testing::Test has a Run of its own

class Histories : public ::testing::Test {
 protected:
  std::string path() const { return folder_.file("history.db"); }
  History made() const { return History(path(), History::Missing::kCreate); }
  // What opening it says, which changes nothing.
  std::string refused(History::Missing missing = History::Missing::kCreate) const {
    const std::string before = read_text(path());
    std::string said = "it was opened";
    try {
      History(path(), missing);
    } catch (const BadHistory& error) {
      said = error.what();
    }
    EXPECT_EQ(read_text(path()), before);
    return said;
  }

  testing::Folder folder_;
};

json distinct_full_result() {
  json result = to_json(full_result());
  for (size_t i = 0; i < result["cases"].size(); ++i)
    result["cases"][i]["name"] = "case " + std::to_string(i);
  return result;
}

// Also members that this program knows nothing of, and figures that JSON cannot hold.
TEST_F(Histories, GiveBackWhatWasAdded) {
  json result = distinct_full_result();
  result["of_a_later_version"] = {{"big", 9007199254740993}, {"small", 1e-308}, {"text", "\u00e9\n"}};
  const HistoryRun run = run_of(result);
  EXPECT_THAT(made().add({run}, "main"), ElementsAre(true));
  History history(path());
  EXPECT_EQ(history.text(run.id), file_text(result));
  EXPECT_EQ(json::parse(history.text(run.id)), json::parse(file_text(result)));
}

TEST_F(Histories, GiveBackEveryCommittedResultByteByByte) {
  History history = made();
  int results = 0;
  for (const auto& committed : testing::committed_results()) {
    const std::string text = read_text(committed);
    const json file = json::parse(text);
    if (!file.contains("kind")) continue;
    const HistoryRun run = run_of(file);
    history.add({run}, "");
    EXPECT_EQ(history.text(run.id), text) << committed;
    ++results;
  }
  EXPECT_GT(results, 10);
  EXPECT_EQ(history.list().size(), static_cast<size_t>(results));
}

TEST_F(Histories, KeepARunOnce) {
  History history = made();
  const json result = distinct_full_result();
  EXPECT_THAT(history.add({run_of(result)}, ""), ElementsAre(true));
  EXPECT_THAT(history.add({run_of(json::parse(json::parse(file_text(result)).dump(7))), numbered_run(1, 1, 1)}, ""),
              ElementsAre(false, true));
  json other = result;
  other["cases"][0]["seconds"] = 0.2500000000000001;
  EXPECT_THAT(history.add({run_of(other), run_of(other)}, ""), ElementsAre(true, false));
  EXPECT_EQ(history.list().size(), 3U);
}

TEST_F(Histories, HoldWhatATableIsAskedFor) {
  History history = made();
  history.add({run_of(distinct_full_result())}, "feature");
  Database& tables = history.database();
  EXPECT_EQ(tables.value("SELECT branch FROM runs"), "feature");
  EXPECT_EQ(tables.value("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(tables.value("PRAGMA synchronous"), "2") << "FULL: what is committed survives a loss of power";
  EXPECT_EQ(tables.value("SELECT unjudged || ' of ' || tensors FROM runs"), "1 of 3");
  EXPECT_EQ(tables.value("SELECT count(*) FROM verdicts JOIN cases USING (case_id) "
                         "WHERE verdict = 'fail' AND contract = 1 AND name = 'case 0'"), "1");
  EXPECT_EQ(tables.value("SELECT json_extract(counters, '$.\"forward.messages\"') FROM verdicts "
                         "WHERE verdict = 'fail'"), "3");
  EXPECT_EQ(tables.value("SELECT json_extract(parts, '$.seed') FROM cases WHERE name = 'case 0'"), "7");
  EXPECT_EQ(tables.value("SELECT count(*) FROM points WHERE median IS NULL AND keep_to = 0.75"), "1");
  EXPECT_EQ(tables.value("SELECT json_extract(samples, '$[1]') FROM points WHERE keep_to = 0.75"), "nan");
}

// NaN is larger than everything, wherever it stands: no margin is known.
TEST_F(Histories, DoNotTakeWhatIsNoNumberForAMargin) {
  for (const char* tensor : {"/0/hard_ratio", "/1/hard_ratio"}) {
    json result = distinct_full_result();
    json& tensors = result["cases"][0]["oracles"][0]["tensors"];
    tensors[0]["hard_ratio"] = tensors[1]["hard_ratio"] = 0.5;
    EXPECT_EQ(run_of(result).verdicts[0].margin, 0.5);
    tensors[json::json_pointer(tensor)] = "nan";
    EXPECT_TRUE(std::isnan(*run_of(result).verdicts[0].margin)) << tensor;
  }
}

TEST_F(Histories, RefuseResultsThatAreNone) {
  const auto says = [](const json& file) {
    try {
      run_of(file);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  json newer = distinct_full_result(), twice = distinct_full_result(), empty = newer;
  newer["schema_version"] = 3;
  EXPECT_THAT(says(newer), AllOf(HasSubstr("schema version 3"), HasSubstr("1 to 2")));
  twice["cases"][1]["name"] = "case 0";
  EXPECT_THAT(says(twice), HasSubstr("the case case 0 twice"));
  twice = distinct_full_result();
  twice["measurements"].push_back(twice["measurements"][0]);
  EXPECT_THAT(says(twice), HasSubstr("twice"));
  for (const char* time : {"yesterday", "2026-11-22", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-22T24:00:00Z",
                           "2026-11-22T05:28:01", "2026-1-22T05:28:01Z", ""}) {
    json started = newer;
    started["schema_version"] = 2;
    started["environment"]["started"] = time;
    EXPECT_THAT(says(started), AllOf(HasSubstr("started at '" + std::string(time) + "'"), HasSubstr("2026-11-22T05:28:01Z")));
  }
  json better = twice;
  better["measurements"] = {twice["measurements"][0]};
  better["measurements"][0]["better"] = "upwards";
  EXPECT_THAT(says(better), AllOf(HasSubstr("'upwards'"), HasSubstr("smaller, larger")));
  empty["kind"] = "guard";
  EXPECT_THAT(says(empty), HasSubstr("no such member"));
  for (const json& other : {json(), json(3), json::array(), json::object(), json{{"kind", "verify"}}})
    EXPECT_THAT(says(other), Not("nothing")) << other;
}

TEST_F(Histories, AreFoundByTheBeginningOfAnId) {
  History history = made();
  const HistoryRun first = numbered_run(1, 1, 1), second = numbered_run(2, 1, 1);
  history.add({second, first}, "");
  EXPECT_EQ(history.find(first.id.substr(0, 8)), first.id);
  EXPECT_EQ(history.find("latest"), second.id);
  EXPECT_THROW(history.find("no such"), BadHistory);
  EXPECT_THROW(history.find(""), BadHistory);
  EXPECT_THROW(history.find("%"), BadHistory);
  for (int i = 3; i < 40; ++i) history.add({numbered_run(i, 1, 1)}, "");  // two begin alike
  EXPECT_THROW(for (char c : std::string("0123456789abcdef")) history.find({c}), BadHistory);
}

// Whichever came first into it.
TEST_F(Histories, TheNewestIsTheOneThatStartedLast) {
  History history = made();
  for (const int i : {5, 9, 2, 7}) history.add({numbered_run(i, 1, 1)}, "");
  EXPECT_EQ(history.keep_newest(2), 2);
  EXPECT_EQ(history.list().front().commit, "7");
  EXPECT_EQ(history.list().back().commit, "9");
}

TEST_F(Histories, LoseOldRunsAlone) {
  History history = made();
  for (int i = 0; i < 10; ++i) history.add({numbered_run(i, 3, 2)}, "");
  EXPECT_EQ(history.keep_newest(7), 3);
  EXPECT_EQ(history.list().front().commit, "3");
  EXPECT_EQ(history.remove_before("2026-01-01T00:00:05Z"), 2);
  EXPECT_EQ(history.list().size(), 5U);
  EXPECT_EQ(history.list(2).front().commit, "8");
  Database& tables = history.database();
  EXPECT_EQ(tables.value("SELECT count(*) FROM results"), "5");
  EXPECT_EQ(tables.value("SELECT count(*) FROM points"), "15");
  EXPECT_EQ(tables.value("SELECT count(*) FROM verdicts"), "10");
  EXPECT_EQ(history.keep_newest(0), 5);
  for (const char* table : {"runs", "results", "series", "points", "cases", "verdicts"})
    EXPECT_EQ(tables.value(std::string("SELECT count(*) FROM ") + table), "0") << table;
}

TEST_F(Histories, TakeAllOrNone) {
  History history = made();
  history.add({numbered_run(0, 1, 1)}, "");
  HistoryRun broken = numbered_run(2, 1, 1);
  broken.points.push_back(broken.points.front());  // one run has a series once
  EXPECT_THROW(history.add({numbered_run(1, 1, 1), broken}, ""), BadHistory);
  EXPECT_EQ(history.list().size(), 1U);
}

TEST_F(Histories, SayThatADiskIsFullAndStay) {
  History history = made();
  history.add({numbered_run(0, 5, 5)}, "");
  const std::string pages = history.database().value("PRAGMA page_count");
  history.database().execute("PRAGMA max_page_count = " + pages);
  std::vector<HistoryRun> many;
  for (int i = 1; i < 200; ++i) many.push_back(numbered_run(i, 20, 20));
  try {
    history.add(many, "");
    ADD_FAILURE() << "it was added";
  } catch (const BadHistory& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(path()), HasSubstr("disk is full"), HasSubstr("nothing was changed")));
  }
  EXPECT_EQ(history.list().size(), 1U);
  EXPECT_EQ(history.database().value("PRAGMA integrity_check"), "ok");
}

TEST_F(Histories, RefuseFilesThatAreNone) {
  EXPECT_THAT(refused(History::Missing::kRefuse), HasSubstr("No such file"));
  EXPECT_FALSE(std::filesystem::exists(path()));
  write_text(path(), "a text that is longer than a hundred bytes, so that it could hold the header of a "
                     "database, and does not");
  EXPECT_THAT(refused(), HasSubstr("no history"));
  write_text(path(), "");
  EXPECT_THAT(refused(History::Missing::kRefuse), HasSubstr("is empty"));
  std::filesystem::remove(path());
  Database(path(), true).execute("CREATE TABLE other (x)");
  EXPECT_THAT(refused(), HasSubstr("something else"));
  EXPECT_THROW(History(folder_.path()), BadHistory);
  EXPECT_THROW(History(""), BadHistory);
}

TEST_F(Histories, RefuseNewerOnes) {
  const auto newest = static_cast<int>(migrations().size());
  made().database().execute("PRAGMA user_version = " + std::to_string(newest + 1));
  EXPECT_THAT(refused(), AllOf(HasSubstr("version " + std::to_string(newest + 1)),
                               HasSubstr("up to " + std::to_string(newest)), HasSubstr("newer ringcheck")));
}

// A step that fails leaves the version before it; what is there stays.
TEST_F(Histories, OfAnOlderVersionAreBroughtUp) {
  Database database(path(), true);
  std::vector<std::string> steps{"CREATE TABLE one (x); INSERT INTO one VALUES (7)"};
  migrate(database, true, steps);
  steps.push_back("ALTER TABLE one ADD COLUMN y DEFAULT 8");
  steps.push_back("INSERT INTO nowhere VALUES (1)");
  EXPECT_THROW(migrate(database, false, steps), BadHistory);
  EXPECT_EQ(database.value("PRAGMA user_version"), "1");
  steps.back() = "CREATE TABLE two AS SELECT x + y AS z FROM one";
  migrate(database, false, steps);
  EXPECT_EQ(database.value("PRAGMA user_version"), "3");
  EXPECT_EQ(database.value("SELECT z FROM two"), "15");
  migrate(database, false, steps);
}

// What a dashboard asks reads by an index what it shows, not all there is. The time is only said.
TEST_F(Histories, AnswerByTheirIndices) {
  History history = made();
  std::vector<HistoryRun> runs;
  for (int i = 0; i < 300; ++i) runs.push_back(numbered_run(i, 100, 10));
  Result elsewhere = numbered_result(300, 100, 10);
  elsewhere.environment.cores = 99;
  runs.push_back(run_of(to_json(elsewhere)));
  history.add(runs, "main");
  const Result one = numbered_result(0, 100, 10);
  const auto begin = std::chrono::steady_clock::now();
  const auto points = trend(history.database(), one.measurements[42], one.environment, {runs[7].id});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout << "a trend of 300 runs: " << seconds.count() << " s\n";
  ASSERT_EQ(points.size(), 299U);
  EXPECT_EQ(points.front().commit, "0");
  EXPECT_EQ(points.back().commit, "299");
  for (const std::string query : {"SELECT median FROM series CROSS JOIN points USING (series) CROSS JOIN runs "
                                  "USING (run) WHERE name = 'time' AND parts = '' AND unit = '' AND better = ''",
                                  "SELECT verdict FROM verdicts WHERE run = 1",
                                  "SELECT median FROM points WHERE run = 1",
                                  "SELECT margin FROM cases JOIN verdicts USING (case_id) WHERE name = ''",
                                  "SELECT id FROM runs ORDER BY started DESC, run DESC LIMIT 10"}) {
    Statement plan(history.database(), "EXPLAIN QUERY PLAN " + query);
    while (plan.step())
      EXPECT_THAT(plan.text(3), ::testing::AnyOf(HasSubstr("SEARCH"), HasSubstr("USING INDEX runs_by_time"),
                                                 HasSubstr("USING COVERING INDEX runs_by_time")))
          << query;
  }
}

}  // namespace
}  // namespace ringcheck::reports
