// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// verify --timeline: the events of the ranks in its result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cp/ledger/overlap.h"
#include "property_tests/cli/program.h"
#include "property_tests/reports/json_schema.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using nlohmann::json;

constexpr const char* kThreads = "ring:p2p/headtail/causal/thread/P3/hq2/hkv2/s60/d16/float32";
constexpr const char* kProcesses = "ring:alltoall/headtail/causal/mpi/P3/hq2/hkv2/s60/d16/float32";

class Timelines : public ::testing::Test {
 protected:
  json result_of(std::vector<std::string> words) {
    words.insert(words.end(), {"--json", file("result.json")});
    ran_ = ringcheck(words);
    EXPECT_EQ(ran_.code, 0) << ran_.out << ran_.err;
    return json::parse(read_text(file("result.json")));
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

  Folder folder_;
  Ran ran_;
};

std::vector<Stretch> stretches(const json& events, const std::string& what) {
  std::vector<Stretch> list;
  for (const json& event : events)
    if (event["what"] == what) list.push_back({event["begin"].get<double>(), event["end"].get<double>()});
  return list;
}

int64_t sum(const json& events, const std::string& what, const char* figure) {
  int64_t total = 0;
  for (const json& event : events)
    if (event["what"] == what) total += figure == nullptr ? 1 : event[figure].get<int64_t>();
  return total;
}

// Of a rank and a pass: what the result counts and times is what its events add up to.
void expect_sums(const json& pass) {
  const json& events = pass.at("events");
  EXPECT_EQ(sum(events, "attend", nullptr), pass["steps"]);
  EXPECT_EQ(sum(events, "merge", nullptr), pass["merges"]);
  EXPECT_EQ(sum(events, "send", nullptr), pass["messages"]);
  EXPECT_EQ(sum(events, "attend", "pairs"), pass["pairs"]);
  EXPECT_EQ(sum(events, "attend", "flops"), pass["flops"]);
  EXPECT_EQ(sum(events, "send", "bytes"), pass["bytes_sent"]);
  EXPECT_EQ(sum(events, "receive", "bytes"), pass["bytes_received"]);
  const Seconds seconds = seconds_of(stretches(events, "attend"), stretches(events, "receive"));
  const double rounding = 1e-9 * static_cast<double>(events.size() + 1);  // of each to a nanosecond
  EXPECT_NEAR(seconds.attention, pass["seconds"]["attention"].get<double>(), rounding);
  EXPECT_NEAR(seconds.communication, pass["seconds"]["communication"].get<double>(), rounding);
  EXPECT_NEAR(seconds.exposed, pass["seconds"]["exposed"].get<double>(), rounding);
}

// And so is what it sent to each rank, and received from it.
void expect_edges(const json& rank) {
  for (const auto& [what, edges] : {std::pair("send", "sent_to"), {"receive", "received_from"}}) {
    std::vector<int64_t> bytes(rank.at(edges).size(), 0);
    for (const char* pass : {"forward", "backward"})
      for (const json& event : rank[pass]["events"])
        if (event["what"] == what) bytes.at(event["peer"].get<size_t>()) += event["bytes"].get<int64_t>();
    EXPECT_EQ(json(bytes), rank[edges]) << edges << " of rank " << rank["rank"];
  }
}

void expect_timelines(const json& test) {
  double first = 1;
  for (const json& rank : test.at("ranks")) expect_edges(rank);
  for (const json& rank : test.at("ranks"))
    for (const char* pass : {"forward", "backward"}) {
      expect_sums(rank.at(pass));
      for (const json& event : rank[pass]["events"]) {
        first = std::min(first, event["begin"].get<double>());
        EXPECT_LE(event["begin"].get<double>(), event["end"].get<double>()) << event;
        EXPECT_LT(event["end"].get<double>(), test["seconds"].get<double>()) << event;
      }
    }
  EXPECT_EQ(first, 0) << "times are counted from the first event";
}

TEST_F(Timelines, OfThreadsAndOfProcessesAddUp) {
  const json result = result_of({"verify", "--case", kThreads, "--case", kProcesses, "--timeline"});
  ASSERT_EQ(result["summary"]["passed"], 2) << result["summary"];
  for (const json& test : result["cases"]) expect_timelines(test);
  EXPECT_THAT(ran_.out, HasSubstr("timelines: "));
  EXPECT_THAT(schema_violations(json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json")), result),
              IsEmpty());
}

// Nobody asked: a result is as large as ever.
TEST_F(Timelines, AreThereWhereTheyAreAskedFor) {
  const json result = result_of({"verify", "--case", kThreads});
  EXPECT_EQ(read_text(file("result.json")).find("\"events\""), std::string::npos);
  EXPECT_EQ(ran_.out.find("timelines"), std::string::npos);
}

// A history gives them back, and its page has them.
TEST_F(Timelines, GoThroughAHistory) {
  const json result = result_of({"verify", "--case", kThreads, "--timeline"});
  ASSERT_EQ(ringcheck({"report", "add", file("history.db"), file("result.json")}).code, 0);
  ASSERT_EQ(ringcheck({"report", "export", file("history.db"), "latest", "-o", file("back.json")}).code, 0);
  EXPECT_EQ(json::parse(read_text(file("back.json"))), result);
  ASSERT_EQ(ringcheck({"report", "html", file("history.db"), "-o", file("page.html")}).code, 0);
  EXPECT_THAT(read_text(file("page.html")), HasSubstr("\"operations\":[\"exchange kv\""));
}

TEST_F(Timelines, NeedAResultToBeIn) {
  const Ran ran = ringcheck({"verify", "--case", kThreads, "--timeline"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--json"));
}

}  // namespace
}  // namespace ringcheck::testing
