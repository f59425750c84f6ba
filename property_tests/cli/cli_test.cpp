// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The real command from end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "parity/case/case.h"
#include "parity/case/data_family.h"
#include "property_tests/reports/json_schema.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

Ran verify(Words words) {
  words.insert(words.begin(), "verify");
  return ringcheck(words);
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

std::vector<parity::Case> listed(Words words) {
  words.push_back("--list");
  const Ran ran = verify(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
  std::vector<parity::Case> cases;
  for (const std::string& line : lines(ran.out))
    cases.push_back(parity::parse_case(line));
  return cases;
}

TEST(Command, SaysItsVersion) {
  const Ran ran = ringcheck({"--version"});
  EXPECT_EQ(ran.code, 0);
  for (const char* word : {"RingCheck 0.", "commit", "LibTorch", "MPI", "compiler"})
    EXPECT_THAT(ran.out, HasSubstr(word));
}

TEST(Command, HelpIsNoErrorAndNothingIs) {
  EXPECT_EQ(ringcheck({"verify", "--help"}).code, 0);
  EXPECT_EQ(ringcheck({}).code, 2);
  EXPECT_EQ(ringcheck({"nothing"}).code, 2);
  EXPECT_EQ(verify({"--nothing"}).code, 2);
}

TEST(Verify, WritesAResultThatObeysItsSchema) {
  const Folder folder;
  const Ran ran =
      verify({"--world", "1,3", "--seq", "40", "--heads", "2", "--dim", "16", "--rotation",
              "p2p,allgather[keep]", "--rope", "none,half[10000]", "--json", folder.file("json"),
              "--junit", folder.file("junit"), "--verbose"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("8 cases: 8 passed"));
  const json result = json::parse(read_text(folder.file("json")));
  const auto schema = json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
  EXPECT_THAT(schema_violations(schema, result), IsEmpty());
  EXPECT_EQ(result["summary"]["passed"], 8);
  for (const json& test : result["cases"]) {
    EXPECT_EQ(test["ranks"].size(), parity::parse_case(test["name"]).world);
    EXPECT_THAT(test["reproduce"].get<std::string>(), HasSubstr(test["name"].get<std::string>()));
    std::set<std::string> tensors;
    for (const json& oracle : test["oracles"])
      if (oracle["name"] == "parity")
        for (const json& tensor : oracle["tensors"])
          tensors.insert(tensor["tensor"]);
    EXPECT_EQ(tensors, (std::set<std::string>{"o", "lse", "dq", "dk", "dv"}));
  }
  EXPECT_THAT(read_text(folder.file("junit")), HasSubstr("tests=\"8\""));
}

// A sample is judged where it was asked for and the sequence is longer, and the result says so.
TEST(Verify, ASampleIsSaid) {
  const Folder folder;
  const Ran ran = verify({"--world", "2", "--world-kind", "thread,mpi", "--seq", "20,60", "--dim",
                          "16", "--sample", "20", "--json", folder.file("json")});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("sampled: 20 queries and keys of each head, in 2 of 4 cases"));
  EXPECT_THAT(ran.out, HasSubstr("(1 - f)^20"));
  const json result = json::parse(read_text(folder.file("json")));
  const auto schema = json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
  EXPECT_THAT(schema_violations(schema, result), IsEmpty());
  for (const json& test : result["cases"]) {
    const bool sampled = test["parts"]["seq"] == "60";
    EXPECT_EQ(test["parts"].contains("sample"), sampled);
    EXPECT_EQ(test["reproduce"].get<std::string>().ends_with(" --sample 20"), sampled);
  }
}

TEST(Verify, MpiWorldsRunUnderMpirun) {
  const Ran ran = verify({"--world", "2,3", "--world-kind", "mpi", "--seq", "40", "--dim", "16"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 cases: 2 passed"));
}

TEST(Verify, ListsMultiplyAndTheRestFollows) {
  const auto cases = listed({"--world", "2,4", "--heads", "6", "--dim", "24", "--mask",
                             "doc[9,8:12],window[5],doc[3,4]", "--kernel", "plain"});
  EXPECT_EQ(cases.size(), 6U);
  for (const parity::Case& test : cases) {
    EXPECT_EQ(test.kv_heads, 6);
    EXPECT_EQ(test.dim_v, 24);
  }
  EXPECT_EQ(cases[0].seq, 21);
  EXPECT_EQ(cases[2].seq, 7);
  EXPECT_EQ(listed({"--seq", "1K"})[0].seq, 1024);
  EXPECT_EQ(listed({"--seq", "1M"})[0].seq, 1 << 20);
}

TEST(Verify, ACaseThatIsSaidTwiceRunsOnce) {
  const std::string test = "ring:p2p/contiguous/causal/P2/s24/d8/float64";
  const Ran ran = ringcheck({"verify", "--list", "--case", test, "--case", test + "/seed1", "--case", test + "/seed2"});
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 2) << ran.out;
}

TEST(Verify, AxesSelectAmongTheCasesOfAProfile) {
  const auto all = listed({"--profile", "smoke"});
  const auto some = listed({"--profile", "smoke", "--rotation", "p2p,allgather", "--mask", "doc"});
  EXPECT_GT(some.size(), 5U);
  EXPECT_LT(some.size(), all.size());
  for (const parity::Case& test : some) {
    EXPECT_NE(test.arguments, ":alltoall");
    EXPECT_THAT(parity::mask_text(test.mask), StartsWith("doc["));
  }
  for (const parity::Case& test : listed({"--profile", "smoke", "--seed", "9"}))
    EXPECT_EQ(test.seed, 9U);
}

TEST(Verify, TheSmokeProfileHasEverything) {
  const auto cases = listed({});
  EXPECT_GE(cases.size(), 300U);
  std::set<std::string> seen;
  for (const parity::Case& test : cases) {
    seen.insert("P" + std::to_string(test.world));
    seen.insert(test.strategy == "ring" ? test.arguments.substr(1) : test.strategy);
    seen.insert(test.balance + std::to_string(test.block));
    seen.insert(parity::mask_text(test.mask).substr(0, parity::mask_text(test.mask).find('[')));
    seen.insert(parity::dtype_text(test.dtype));
    seen.insert(test.kernel);
    seen.insert(test.data);
    seen.insert(test.world_kind);
    seen.insert("rope" + std::to_string(static_cast<int>(test.rope.pairing)));
    seen.insert(test.seq % (2 * test.world) == 0 ? "divides" : "odd");
    seen.insert(test.q_heads == test.kv_heads ? "MHA" : test.kv_heads == 1 ? "MQA" : "GQA");
    seen.insert(test.dim == test.dim_v ? "equal" : "unequal");
    seen.insert("batch" + std::to_string(test.batch));
    seen.insert(test.scale ? "scale" : "default scale");
  }
  std::set<std::string> want{"gathered",
                             "ulysses",
                             "P1",
                             "P2",
                             "P3",
                             "P4",
                             "P5",
                             "P7",
                             "P8",
                             "headtail1",
                             "contiguous1",
                             "striped1",
                             "striped16",
                             "full",
                             "causal",
                             "window",
                             "doc",
                             "docfull",
                             "prefix",
                             "float64",
                             "float32",
                             "bf16",
                             "fp16",
                             "rope0",
                             "rope1",
                             "rope2",
                             "divides",
                             "odd",
                             "MHA",
                             "MQA",
                             "GQA",
                             "equal",
                             "unequal",
                             "batch1",
                             "batch2",
                             "scale",
                             "default scale",
                             "thread",
                             "mpi",
                             "allgather[keep]"};
  for (const auto& [name, entry] : Rotations::all())
    want.insert(name);
  for (const std::string& name : kernels_on(at::kCPU))
    want.insert(name);
  for (const auto& [name, says] : parity::DataFamilies::all())
    want.insert(name);
  for (const std::string& word : want)
    EXPECT_EQ(seen.count(word), 1U) << word;
}

TEST(Verify, ProfilesAreTheSameEveryTime) {
  for (const char* name : {"conformance", "stress"}) {
    const auto first = listed({"--profile", name});
    EXPECT_GT(first.size(), 100U);
    EXPECT_EQ(first, listed({"--profile", name}));
  }
}

TEST(Verify, ModelsHaveTheirShapes) {
  const auto cases = listed({"--model", "deepseek-v3,gpt-oss-20b", "--seq", "64"});
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].q_heads, 128);
  EXPECT_EQ(cases[0].dim, 192);
  EXPECT_EQ(cases[0].dim_v, 128);
  EXPECT_EQ(cases[1].mask, decltype(Mask::kind)(Window{128}));
  EXPECT_EQ(cases[2].kv_heads, 8);
}

TEST(Verify, RandomCleanCasesRaiseNoAlarm) {
  const Ran ran = verify({"--clean", "40", "5"});
  EXPECT_THAT(ran.out, HasSubstr("false alarms: 0 of "));
  EXPECT_THAT(ran.out, HasSubstr("3/"));
}

}  // namespace
}  // namespace ringcheck::testing
