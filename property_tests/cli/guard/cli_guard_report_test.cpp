// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the real command says beside its verdict: what it cannot see, who broke a law, and in files.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "property_tests/cli/guard/guard_dump.h"
#include "property_tests/reports/json_schema.h"

namespace ringcheck::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using nlohmann::json;
using Words = std::vector<std::string>;

class GuardReport : public GuardTest {
 protected:
  Words to_json() const { return {"--json", folder_.file("json")}; }
  // What is said of this blind spot by a run that passes.
  std::string unseen(const std::string& what) {
    const json all = result()["unseen"];
    for (const json& one : all)
      if (one["what"] == what) return one["says"];
    return "";
  }
  // A dump that the laws cannot tell from a right one.
  void passes(const char* why) {
    const Ran ran = run(to_json());
    EXPECT_EQ(ran.code, 0) << why << ran.out << ran.err;
  }
};

// Each thing that it says it cannot see, it does not see.
TEST_F(GuardReport, WhatItCannotSeePasses) {
  passes("right");
  for (const char* what : {"mask", "scale", "lse", "dq_dk", "d", "do", "size"})
    EXPECT_THAT(unseen(what), Not(IsEmpty())) << what;
  EXPECT_THAT(unseen("heads"), IsEmpty());
  const at::Tensor right = whole_.tensors["o"].to(at::kDouble);
  step({DocumentCausal{{{64, 64}, {64, 64}, {64, 64}, {64, 64}}}, 256});
  passes("ranks that attend to their own tokens alone, in one file");
  const double off = ((whole_.tensors["o"].to(at::kDouble) - right).norm() / right.norm()).item<double>();
  EXPECT_GT(off, 0.5) << "which is far from right";
  EXPECT_THAT(unseen("mask"), HasSubstr("as is that of ranks that attend to their own tokens alone"));
  step({Causal{}, 256});
  (*this)["lse"].add_(5);
  passes("lse");
  (*this)["dq"].mul_(3), (*this)["dk"].mul_(3);
  passes("a factor that dq and dk have in common");
  for (const char* name : {"do", "dq", "dk", "dv"}) (*this)[name].mul_(0.5);
  passes("do itself");
  whole_.metadata["scale"] = "0.5";
  passes("scale");
}

TEST_F(GuardReport, WhatItCannotSeeFollowsFromTheFiles) {
  passes("with lse");
  EXPECT_THAT(unseen("lse"), StartsWith("its values"));
  EXPECT_TRUE(result()["lse"].get<bool>());
  whole_.tensors.erase("lse");
  passes("without lse");
  EXPECT_THAT(unseen("lse"), StartsWith("it was not given"));
  EXPECT_FALSE(result()["lse"].get<bool>());
  EXPECT_THAT(unseen("d"), StartsWith("D of the block"));
  Words words = to_json();
  words.push_back("--unrotated");
  ASSERT_EQ(run(words).code, 0);
  EXPECT_THAT(unseen("d"), StartsWith("any wrong D"));
  (*this)["dk"].narrow(1, 1, 1).zero_(), (*this)["dq"].narrow(1, 2, 2).zero_();
  (*this)["do"].narrow(1, 2, 2).zero_(), (*this)["dv"].narrow(1, 1, 1).zero_();
  (*this)["o"].narrow(1, 2, 2).zero_();
  passes("a head of which nothing is asked");
  EXPECT_THAT(unseen("heads"), HasSubstr("in 1 of 2 (batch, kv head)"));
}

// Of several files it is given where all have it.
TEST_F(GuardReport, LseIsThatOfAllFiles) {
  const at::Tensor lse = whole_.tensors["lse"];
  for (const int without : {-1, 0, 2, 3}) {
    Words words = to_json();
    words.insert(words.begin(), "guard");
    for (int rank = 0; rank < kShards; ++rank) {
      whole_.tensors["lse"] = lse;
      if (rank == without) whole_.tensors.erase("lse");
      words.push_back(write_shard(rank, {{"rank", std::to_string(rank)}, {"world", "4"}}));
    }
    ASSERT_EQ(ringcheck(words).code, 0);
    EXPECT_EQ(result()["lse"].get<bool>(), without < 0) << without;
  }
}

// A factor on dV is seen from where the report says on.
TEST_F(GuardReport, TheSmallestFactorIsTheOneThatItNames) {
  step({Causal{}, 256}, at::kFloat);
  passes("right");
  const std::string says = unseen("size"), before = "C1 a factor on dv within ";
  ASSERT_THAT(says, HasSubstr(before));
  const double limit = std::stod(says.substr(says.find(before) + before.size())) / 100;
  const parity::Safetensors clean = whole_;
  (*this)["dv"].mul_(1 + 1.5 * limit);
  EXPECT_EQ(run().code, 1);
  whole_ = clean;
  (*this)["dv"].mul_(1 + 0.5 * limit);
  passes("half of it");
}

TEST_F(GuardReport, AFailureNamesTheRank) {
  const parity::Safetensors clean = whole_;
  for (const int rank : {0, 2, 3}) {
    whole_ = clean;
    at::Tensor own = (*this)["dv"].narrow(2, 64 * rank, 64);
    own.add_(own.flip(2).roll(1, -1) * 3);
    const Ran ran = run_shards(to_json());
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(words_of(ran.out), HasSubstr("rank " + std::to_string(rank) + " adds most to it: "));
    const json law = result()["laws"][0];
    EXPECT_EQ(law["most"]["rank"], rank);
    EXPECT_EQ(law["most"]["file"], path(std::to_string(rank)));
    EXPECT_EQ(law["shares"].size(), 4);
    EXPECT_THAT(result()["findings"][0].get<std::string>(), HasSubstr("rank " + std::to_string(rank)));
  }
  whole_ = clean;
  (*this)["dk"].narrow(2, 64, 64).zero_();
  EXPECT_THAT(words_of(run_shards().out), HasSubstr("FAIL rank 1: dk is zero everywhere"));
}

TEST_F(GuardReport, RanksThatDoNotAttendToEachOtherAreNoPass) {
  ASSERT_EQ(run_shards(to_json()).code, 0);
  EXPECT_FALSE(result()["isolated"].get<bool>());
  EXPECT_THAT(unseen("mask"), HasSubstr("alone would have been seen"));
  step({DocumentCausal{{{64, 64}, {64, 64}, {64, 64}, {64, 64}}}, 256});
  const Ran ran = run_shards(to_json());
  EXPECT_EQ(ran.code, 6) << ran.out;
  EXPECT_THAT(words_of(ran.out), HasSubstr("Otherwise context parallelism is off"));
  EXPECT_EQ(result()["verdict"], "inconclusive");
  EXPECT_TRUE(result()["isolated"].get<bool>());
}

// The verdict comes first, and no line is wider than a terminal, whatever the verdict.
TEST_F(GuardReport, TheScreenIsReadable) {
  const auto printed = [&](const Words& words, const std::string& verdict) {
    const Ran ran = words.empty() ? run_shards() : run(words);
    EXPECT_THAT(ran.out, StartsWith(verdict + "  "));
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);)
      if (line.find(folder_.path()) == std::string::npos) {
        EXPECT_LE(line.size(), 80U) << line;
      }
  };
  printed({}, "PASS");
  printed({"--unrotated"}, "PASS");
  const parity::Safetensors clean = whole_;
  (*this)["dv"].mul_(3);
  printed({}, "FAIL");
  for (const char* name : {"do", "o", "dq", "dk", "dv"}) (*this)[name].zero_();
  printed({"--unrotated"}, "OPEN");
  whole_ = clean;
  step({DocumentCausal{{{64, 64}, {64, 64}, {64, 64}, {64, 64}}}, 256});
  printed({}, "OPEN");
}

// The command that a result names is the one that was typed.
TEST_F(GuardReport, TheCommandCanBePasted) {
  const std::string odd = folder_.file("it's a dump");
  parity::write_safetensors(odd, whole_);
  const std::string json = folder_.file("json"), junit = folder_.file("junit");
  const Words words{"guard", odd, "--unrotated", "--accumulation", "bf16[256]", "--json", json, "--junit", junit};
  ASSERT_EQ(ringcheck(words).code, 0);
  const std::string command =
      nlohmann::json::parse(read_text(json))["environment"]["command"].get<std::string>();
  EXPECT_THAT(command, HasSubstr("'\\''"));
  EXPECT_THAT(read_text(junit), HasSubstr("it&apos;\\&apos;&apos;s a dump"));
  const std::string rest = command.substr(std::string("ringcheck").size());
  const Ran again = Running({"/bin/sh", "-c", ringcheck_program() + rest + " --json " + json}).wait();
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(read_text(json))["environment"]["command"], command);
}

TEST_F(GuardReport, Accumulation) {
  Words words = to_json();
  words.insert(words.end(), {"--accumulation", "bf16[256]"});
  ASSERT_EQ(run(words).code, 0);
  EXPECT_EQ(result()["accumulation"], "bf16[256]");
  const double wide = result()["laws"][0]["sigma"].get<double>();
  ASSERT_EQ(run(to_json()).code, 0);
  EXPECT_FALSE(result().contains("accumulation"));
  EXPECT_GT(wide, result()["laws"][0]["sigma"].get<double>());
  for (const auto& [wrong, says] : {std::pair("bf16", "want DTYPE[LENGTH]"),
                                    std::pair("bf16[0]", "whole number from 1"),
                                    std::pair("bf17[256]", "bf17"), std::pair("", "names nothing")}) {
    const Ran ran = run({"--accumulation", wrong});
    EXPECT_EQ(ran.code, 2) << wrong;
    EXPECT_THAT(ran.err, HasSubstr(says)) << wrong;
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST_F(GuardReport, JUnit) {
  const std::string file = folder_.file("junit.xml");
  ASSERT_EQ(run_shards({"--junit", file}).code, 0);
  EXPECT_THAT(read_text(file), AllOf(HasSubstr("tests=\"6\" failures=\"0\" errors=\"0\""), Not(HasSubstr("<skipped"))));
  EXPECT_THAT(read_text(file), HasSubstr("<testcase name=\"C1 sum dV = sum dO\" classname=\"ringcheck.guard\""));
  ASSERT_EQ(run({"--junit", file, "--unrotated"}).code, 0);
  EXPECT_THAT(read_text(file), AllOf(HasSubstr("tests=\"5\" failures=\"0\" errors=\"0\""), HasSubstr("<skipped")));
  (*this)["dv"].mul_(4);
  const Ran ran = run({"--junit", "-", "--accumulation", "bf16[256]"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, StartsWith("<?xml"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("tests=\"5\" failures=\"2\" errors=\"0\""), Not(HasSubstr("<skipped"))));
  EXPECT_THAT(ran.out, HasSubstr("<failure type=\"fail\" message=\"C1 sum dV = sum dO: off by"));
  EXPECT_THAT(ran.out, HasSubstr("would fit: dv "));
  EXPECT_THAT(ran.out, HasSubstr("reproduce: ringcheck guard "));
  EXPECT_THAT(ran.out, HasSubstr("--accumulation &apos;bf16[256]&apos;"));
  EXPECT_THAT(ran.err, HasSubstr("FAIL  C1"));
  (*this)["q"][0][0][0][0] = NAN;
  EXPECT_THAT(run({"--junit", "-"}).out, HasSubstr("<testcase name=\"values\""));
  EXPECT_EQ(run({"--junit", "-", "--json", "-"}).code, 2);
  EXPECT_EQ(run({"--junit", "/nonexistent/file"}).code, 2);
}

// The schema describes every value that the command writes, and takes none of another type.
TEST_F(GuardReport, TheSchemaSpeaksOfEveryValue) {
  (*this)["dv"].mul_(4);
  Words words = to_json();
  words.insert(words.end(), {"--accumulation", "bf16[256]"});
  ASSERT_EQ(run_shards(words).code, 1);
  const json schema = json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
  const json good = json::parse(read_text(folder_.file("json")));
  EXPECT_THAT(schema_violations(schema, good), IsEmpty());
  json wrong = good;
  const json values = good["guard"].flatten();
  EXPECT_TRUE(values.contains("/laws/0/most/rank"));
  EXPECT_TRUE(values.contains("/would_fit/0/factor"));
  for (const auto& [at, value] : values.items())
    wrong["guard"][json::json_pointer(at)] = value.is_array() ? json("no list") : json();
  const auto violations = schema_violations(schema, wrong);
  for (const auto& [at, value] : values.items())
    EXPECT_THAT(violations, Contains(StartsWith("/guard" + at + ": "))) << at;
  for (const char* member : {"verdict", "laws", "findings"}) {
    json less = good;
    less["guard"].erase(member);
    EXPECT_THAT(schema_violations(schema, less), Not(IsEmpty())) << member;
  }
}

}  // namespace
}  // namespace ringcheck::testing
