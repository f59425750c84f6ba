// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/events.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/reports/full_result.h"

namespace ringcheck::reports {
namespace {

CaseResult with_events(Status verdict, int events) {
  CaseResult test = case_of(verdict);
  test.ranks.resize(2);
  for (int i = 0; i < events; ++i) {
    RankResult& rank = test.ranks[static_cast<size_t>(i % 2)];
    (i % 3 == 0 ? rank.forward : rank.backward).events.push_back({Event::What::kMerge, i, i});
  }
  return test;
}

int64_t events_in(const CaseResult& test) {
  size_t sum = 0;
  for (const RankResult& rank : test.ranks)
    sum += rank.forward.events.size() + rank.backward.events.size();
  return static_cast<int64_t>(sum);
}

// What failed comes before what passed, then the order of the cases; of a case all or none.
TEST(Events, AreKeptWhileThereIsRoomFailuresFirst) {
  std::vector<CaseResult> cases{with_events(Status::kPass, 6), with_events(Status::kPass, 5),
                                with_events(Status::kFail, 4), case_of(Status::kHang),
                                with_events(Status::kPass, 1)};
  const Events kept = keep_events(cases, 10);
  std::vector<int64_t> left;
  for (const CaseResult& test : cases) left.push_back(events_in(test));
  EXPECT_EQ(left, (std::vector<int64_t>{6, 0, 4, 0, 0}));
  EXPECT_EQ(kept.events, 10);
  EXPECT_EQ(kept.cases, 2);
  EXPECT_EQ(kept.left_out, 2);
  EXPECT_EQ(to_text(kept), "timelines: 10 events of 2 cases; those of 2 more cases had no room, so ask for fewer cases");
}

TEST(Events, OfOneCaseAreKeptWhateverTheRoom) {
  std::vector<CaseResult> cases{with_events(Status::kPass, 30), with_events(Status::kPass, 1)};
  EXPECT_EQ(keep_events(cases, 10).events, 30);
  EXPECT_EQ(events_in(cases[0]), 30);
  EXPECT_EQ(events_in(cases[1]), 0);
}

TEST(Events, NoneIsSaid) {
  std::vector<CaseResult> cases{case_of(Status::kPass)};
  EXPECT_EQ(to_text(keep_events(cases, 10)),
            "timelines: none: no case ran whose subject marks its passes in the ledger");
}

// Of each kind of event what it has, and nothing else; a result without any has no such member.
TEST(Events, InJson) {
  const nlohmann::json rank = to_json(full_result())["cases"][0]["ranks"][0];
  const nlohmann::json& events = rank["forward"]["events"];
  EXPECT_EQ(events[0], (nlohmann::json{{"what", "attend"}, {"begin", 0.0}, {"end", 0.5}, {"pairs", 4}, {"flops", 5}}));
  EXPECT_EQ(events[1], (nlohmann::json{{"what", "merge"}, {"begin", 0.75}, {"end", 0.75}}));
  EXPECT_EQ(events[2], (nlohmann::json{{"what", "receive"}, {"begin", 0.25}, {"end", 0.5}, {"bytes", 2},
                                       {"step", 1}, {"peer", 1}, {"operation", "exchange kv"}}));
  EXPECT_EQ(events[3]["begin"], "nan");
  EXPECT_FALSE(rank["backward"].contains("events"));
}

TEST(Events, OfAnUnknownKindAreRefused) {
  nlohmann::json result = to_json(full_result());
  result["cases"][0]["ranks"][0]["forward"]["events"][0]["what"] = "sleep";
  EXPECT_THROW(result_from_json(result), std::invalid_argument);
}

}  // namespace
}  // namespace ringcheck::reports
