// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/reports/full_result.h"

namespace ringcheck::reports {

CaseResult case_of(Status verdict) {
  CaseResult test;
  test.name = "ring:p2p/headtail/...";
  test.group = "thread ring:p2p headtail";
  test.verdict = verdict;
  test.reproduce = "ringcheck verify --case 'ring:p2p/headtail/...'";
  test.seconds = 0.25;
  return test;
}

CaseResult failed(bool contract) {
  CaseResult test = case_of(Status::kFail);
  test.oracles = {{"parity", Status::kPass, false, {}, {}},
                  {"counters", Status::kFail, contract, {}, {"3 messages, want 2"}}};
  return test;
}

Result result_of(std::vector<CaseResult> cases) {
  Result result;
  result.environment.started = "2026-01-01T00:00:00Z";
  result.environment.wall_seconds = 2;
  result.cases = std::move(cases);
  result.summary = summary_of(result.cases);
  return result;
}

Result full_result() {
  CaseResult test = failed(true);
  TensorResult tensor{"dk",
                      Status::kFail,
                      kNan,
                      0.25,
                      kInfinity,
                      -kInfinity,
                      0.1,
                      -1.5,
                      1e-300,
                      7,
                      6,
                      Status::kNotCalibrated,
                      Status::kPass,
                      "rank 1, position 3"};
  test.oracles[0].tensors = {tensor, {}};
  test.oracles[0].tensors[1].tensor = "o";
  test.ranks = {
      {{0, 100, 90, 80, 0,
        {{1, 2, 3, 4, 5, 6, 7}, {0.5, 0.25, 0.125, 0.125}, 17, 21,
         {{Event::What::kAttend, 0, 0.5, 4, 5},
          {Event::What::kMerge, 0.75, 0.75},
          {Event::What::kReceive, 0.25, 0.5, 0, 0, 2, 1, 1, "exchange kv"},
          {Event::What::kSend, kNan, kNan, 0, 0, 1, 1, -1, "exchange kv"}}},
        {{8, 9, 10, 11, 12, 13, 14}, {}}, {0, 15}, {0, 16}},
       {18, 19, 20}}};
  test.judged = {{"o", {"bounded", "nobody"}}, {"dq", {"exact", "no_token"}}};
  test.float32_angles_off = 0.0625;
  test.parts = {{"seed", "7"}};
  test.explained = {"o and lse: as if there were no mask"};
  test.findings = {"rank 0 in exchange kv"};
  test.log = "line\n\x01\xff <&>\"'";
  Result result = result_of({test, case_of(Status::kPass), case_of(Status::kHang)});
  result.measurements = {{"time", {{"P", "4"}}, "s", {0.5, kNan}, "smaller", 0.75},
                         {"messages", {}, "", {12}}};
  return result;
}

}  // namespace ringcheck::reports
