// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/dashboard/compact.h"
#include "reports/dashboard/details.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

// Ranks of all runs together, an equal share each, of what did not pass first: a page has 3 MiB.
constexpr size_t kRanks = 2000, kEvents = 20000, kRuns = 8;

json pass_of(const json& pass) {
  const json seconds = pass.value("seconds", json::object());
  json row = json::array();
  for (const char* name : {"attention", "communication", "exposed", "overlapped"})
    row.push_back(rounded(seconds.value(name, json())));
  for (const char* name : {"flops", "bytes_received", "steps", "merges"}) row.push_back(pass.at(name));
  return row;
}

// Peak, K and V, travelling gradients; bytes to each rank; both passes.
json rank_of(const json& rank) {
  return {rank.at("peak_bytes"), rank.at("kv_bytes"), rank.at("traveller_bytes"), rank.at("sent_to"),
          pass_of(rank.at("forward")), pass_of(rank.at("backward"))};
}

// [oracle, tensor, verdict, error over bound, sigmas, blind] of each tensor with an error.
json tensors_of(const json& test) {
  json rows = json::array();
  for (const json& oracle : test.at("oracles"))
    for (const json& tensor : oracle.at("tensors"))
      if (tensor.at("max_z") != 0.0 || tensor.at("verdict") != "pass")
        rows.push_back({oracle.at("name"), tensor.at("tensor"), tensor.at("verdict"),
                        rounded(tensor.at("hard_ratio")), rounded(tensor.at("max_z")),
                        rounded(tensor.at("vacuity"))});
  return rows;
}

// What oracles found, and of what counts bytes whether it says that they are as they should be.
json findings_of(const json& test) {
  json rows = json::array();
  for (const json& oracle : test.at("oracles"))
    if (oracle.at("verdict") == "fail")
      for (const json& finding : oracle.at("findings")) rows.push_back({oracle.at("name"), finding});
  return rows;
}

std::string verdict_of(const json& test, const std::string& name) {
  for (const json& oracle : test.at("oracles"))
    if (oracle.at("name") == name) return oracle.at("verdict");
  return "";
}

json case_of(const json& test, CaseTable& cases) {
  json row{{"case", cases.number_of(test.at("name"), test.at("parts"))},
           {"verdict", test.at("verdict")},
           {"seconds", rounded(test.at("seconds"))},
           {"tensors", tensors_of(test)},
           {"counters", verdict_of(test, "counters")}};
  if (test.at("reason") != "") row["reason"] = test.at("reason");
  if (json findings = findings_of(test); !findings.empty()) row["findings"] = std::move(findings);
  json found = test.value("explained", json::array());
  found.insert(found.end(), test.at("findings").begin(), test.at("findings").end());
  if (!found.empty()) row["found"] = std::move(found);
  if (test.at("log") != "") row["log"] = test.at("log");
  return row;
}

// Of the cases that passed, or of the others, as far as there is room.
void add_ranks(const json& tests, bool passed, size_t& room, json& rows) {
  for (size_t i = 0; i < tests.size(); ++i) {
    const json& ranks = tests[i].at("ranks");
    if ((tests[i].at("verdict") == "pass") != passed || ranks.size() > room) continue;
    room -= ranks.size();
    for (const json& rank : ranks) rows[i]["ranks"].push_back(rank_of(rank));
  }
}

// Of one of so many runs.
json cases_of(const json& tests, CaseTable& cases, size_t runs) {
  json rows = json::array();
  for (const json& test : tests) rows.push_back(case_of(test, cases));
  size_t room = kRanks / runs;
  for (const bool passed : {false, true}) add_ranks(tests, passed, room, rows);
  add_case_events(tests, kEvents / runs, rows);
  return rows;
}

}  // namespace

void add_case_details(History& history, const ChosenRuns& runs, CaseTable& cases, json& page) {
  auto newest = runs.newest_of_each([](const ChosenRuns::Row& row) { return row.cases; });
  newest.resize(std::min(newest.size(), kRuns));
  json details = json::array();
  for (const size_t run : newest) {
    json rows = read_file(history, runs.rows[run], page, [&](const json& file) {
      return cases_of(file.at("cases"), cases, newest.size());
    });
    if (!rows.is_null()) details.push_back({{"run", run}, {"cases", std::move(rows)}});
  }
  page["details"] = std::move(details);
}

}  // namespace ringcheck::reports
