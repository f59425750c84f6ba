// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Every program that writes a result writes one of its kind that obeys the one schema.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "parity/case/safetensors.h"
#include "property_tests/cli/program.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/reports/json_schema.h"
#include "reports/envelope.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

constexpr const char* kCase = "ring:p2p/headtail/causal/P2/s40/d16/float32";

class ResultFiles : public ::testing::Test {
 protected:
  // What a program of this build writes with these words and the name of a file behind them.
  json written(Words words, int code) const {
    words.front() = std::string(RINGCHECK_PROGRAM_DIR) + "/" + words.front();
    words.push_back(file());
    const Ran ran = Running(words).wait();
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    return json::parse(read_text(file()));
  }
  // One that is a result of this kind.
  json result(const Words& words, const std::string& kind, int code = 0) const {
    const json all = written(words, code);
    const json schema =
        json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
    EXPECT_THAT(schema_violations(schema, all), IsEmpty()) << all.dump(1).substr(0, 2000);
    EXPECT_EQ(all["kind"], kind);
    EXPECT_EQ(all["schema_version"], reports::kSchemaVersion);
    EXPECT_THAT(all["environment"]["commit"].get<std::string>(), ::testing::Not(IsEmpty()));
    EXPECT_THAT(all["environment"]["command"].get<std::string>(), HasSubstr("ringcheck"));
    return all;
  }
  std::string file() const { return folder_.file("result.json"); }

  Folder folder_;
};

TEST_F(ResultFiles, Verify) {
  const json all = result({"ringcheck", "verify", "--case", kCase, "--json"}, "verify");
  EXPECT_EQ(all["summary"]["passed"], 1);
  EXPECT_TRUE(all["measurements"].is_array());
}

// - is stdout, and what people read goes to stderr; no file is named -.
TEST_F(ResultFiles, ToStandardOutput) {
  const Ran ran = ringcheck({"verify", "--case", kCase, "--deadline", "77.5", "--json", "-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("1 case: 1 passed"));
  const json all = json::parse(ran.out);
  EXPECT_THAT(all["cases"][0]["reproduce"].get<std::string>(), HasSubstr(" --deadline 77.5"));
  EXPECT_FALSE(std::filesystem::exists("-"));
}

// Of several cases one that no machine holds is counted, and the others run.
TEST_F(ResultFiles, WhatDoesNotFitIsNotSupported) {
  const json all = result({"ringcheck", "verify", "--case", kCase, "--case",
                           "ring:p2p/P2/hq16/hkv16/s256M/d256", "--json"}, "verify");
  EXPECT_EQ(all["summary"]["passed"], 1);
  EXPECT_EQ(all["summary"]["not_supported"], 1);
  EXPECT_THAT(all["cases"][1]["reason"].get<std::string>(), HasSubstr("needs at least"));
}

// What a file holds is what was printed.
TEST_F(ResultFiles, ReportPrintsWhatVerifyPrinted) {
  const Ran run =
      ringcheck({"verify", "--case", kCase, "--case", "ring:p2p/P3/s50/bf16", "--json", file()});
  const Ran report = ringcheck({"report", file()});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_EQ(report.out, run.out);
  EXPECT_EQ(ringcheck({"report", RINGCHECK_SOURCE_DIR "/reports/results/cpu_faults.json"}).code, 2);
}

TEST_F(ResultFiles, Faults) {
  const json all = result({"ringcheck", "faults", "--fault", "length_rounded_down", "--dtype",
                           "float32", "--json"}, "faults");
  ASSERT_EQ(all["faults"]["cells"].size(), 1U);
  EXPECT_EQ(all["faults"]["cells"][0]["result"], "killed");
  EXPECT_EQ(all["faults"]["by_dtype"]["float32"]["killed"], 1);
}

TEST_F(ResultFiles, Guard) {
  parity::Safetensors dump;
  for (const char* name : {"q", "k", "v", "o", "do", "dq", "dk", "dv"})
    dump.tensors[name] = ringcheck::normal({1, 1, 64, 8}, std::string(name)[0]);  // no attention
  parity::write_safetensors(folder_.file("dump.safetensors"), dump);
  const int wrong = 1;
  const json all = result({"ringcheck", "guard", folder_.file("dump.safetensors"), "--json"},
                          "guard", wrong);
  EXPECT_EQ(all["guard"]["verdict"], "fail");
  EXPECT_EQ(all["guard"]["laws"].size(), 4U);
}

TEST_F(ResultFiles, Doctor) {
  const Ran ran = ringcheck({"doctor", "--json", "-"});
  const int code = ran.code;
  const json all = result({"ringcheck", "doctor", "--json"}, "doctor", code);
  EXPECT_FALSE(all["doctor"]["findings"].empty());
  EXPECT_EQ(all["doctor"]["machine"].contains("gpus"), true);
}

// Three repetitions are three samples of every figure, whatever Google Benchmark writes itself.
TEST_F(ResultFiles, Bench) {
  const Words words{"ringcheck_bench", "--benchmark_filter=^merge/rows64/d64",
                    "--benchmark_min_time=0.001", "--benchmark_repetitions=3",
                    "--benchmark_out=" + folder_.file("google.json"),
                    "--benchmark_out_format=json", "--json"};
  const json all = result(words, "bench");
  EXPECT_THAT(all["bench"]["errors"], IsEmpty());
  ASSERT_EQ(all["measurements"].size(), 2U);
  const json &time = all["measurements"][0], &rate = all["measurements"][1];
  EXPECT_EQ(time["name"], "time");
  EXPECT_EQ(time["unit"], "s");
  EXPECT_EQ(time["better"], "smaller");
  EXPECT_EQ(time["parts"], json({{"benchmark", "merge/rows64/d64"}, {"rows", "64"}, {"d", "64"}}));
  EXPECT_EQ(rate["name"], "bytes/s");
  EXPECT_EQ(rate["parts"], time["parts"]);
  EXPECT_EQ(rate["better"], "larger");
  const double bytes = 3.0 * 4 * 8 * 64 * (64 + 1);
  ASSERT_EQ(time["samples"].size(), 3U);
  ASSERT_EQ(rate["samples"].size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    const double seconds = time["samples"][i], per_second = rate["samples"][i];
    EXPECT_NEAR(seconds * per_second / bytes, 1, 1e-6);
  }
  EXPECT_EQ(json::parse(read_text(folder_.file("google.json")))["benchmarks"][0]["run_type"],
            "iteration");
}

TEST_F(ResultFiles, Scaling) {
  const json all =
      result({"ringcheck_scaling", "--case", kCase, "--pairs", "2", "--json"}, "scaling");
  EXPECT_EQ(all["summary"]["passed"], 1);
  std::set<std::string> names;
  for (const json& measurement : all["measurements"]) {
    names.insert(measurement["name"]);
    EXPECT_EQ(measurement["parts"]["world"], "2");
    EXPECT_GE(measurement["samples"].size(), 1U);
  }
  EXPECT_EQ(all["measurements"][0]["samples"].size(), 2U);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"seconds", "tflops_per_device", "eta"}));
}

TEST_F(ResultFiles, Search) {
  const int found = 1;
  const json all = result({"ringcheck_search", "--seed", "1", "--plant", "wide-window", "--record"},
                          "search", found);
  EXPECT_EQ(all["search"]["subject"], "wide-window");
  EXPECT_EQ(all["search"]["failure"]["minimal"]["verdict"], "fail");
}

// Ranks that are processes agree; the first one writes.
TEST_F(ResultFiles, ScalingOfProcesses) {
  const Ran ran = Running({"/usr/bin/env", "mpirun", "-n", "2",
                           std::string(RINGCHECK_PROGRAM_DIR) + "/ringcheck_scaling",
                           "--case", kCase, "--pairs", "2", "--json", file()}).wait();
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const json all = json::parse(read_text(file()));
  EXPECT_EQ(all["summary"]["passed"], 1);
  EXPECT_FALSE(all["measurements"].empty());
}

// Bad files are refused before any work.
TEST_F(ResultFiles, UnwritableOnesAreBadInput) {
  const std::vector<Words> programs{
      {"ringcheck_bench", "--json", "/nowhere/result"},
      {"ringcheck_scaling", "--case", kCase, "--json", "/nowhere/result"},
      {"ringcheck", "faults", "--json", "/nowhere/result"},
      {"ringcheck", "calibrate", "--contract", "/nowhere/result"}};
  for (Words words : programs) {
    words.front() = std::string(RINGCHECK_PROGRAM_DIR) + "/" + words.front();
    const Ran ran = Running(words).wait();
    EXPECT_EQ(ran.code, 2) << words.front() << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("/nowhere/result"));
  }
}

// Of which one device is to compute some: those that there are, and as many as its strategy cuts apart.
TEST_F(ResultFiles, HeadsThatOneDeviceCannotComputeAreBadInput) {
  for (const auto& [groups, says] : {std::pair("5", "--groups-alone 5 is more than the 4 key heads of ulysses[2]"),
                                     std::pair("1", "the 1 kv-heads of a rank do not go into 2 groups")}) {
    const Ran ran = Running({std::string(RINGCHECK_PROGRAM_DIR) + "/ringcheck_scaling", "--case",
                             "ulysses[2]/headtail/plain/causal/P2/hq4/hkv4/s40/d16/bf16", "--groups-alone", groups}).wait();
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_THAT(ran.err, HasSubstr(std::string("--groups-alone ") + groups));
  }
}

// Timed under one name, a case that comes twice would be no result.
TEST_F(ResultFiles, WhatWouldBeTimedTwiceIsBadInput) {
  const std::string test = "ring:p2p/headtail/plain/causal/P2/hq4/hkv4/s40/d16/bf16";
  for (const auto& [more, says] : {std::pair(std::vector<std::string>{"--case", test + "/seed1"}, "--case has " + test.substr(0, 30)),
                                   {{"--launch", "calls,calls"}, "--launch has calls twice; name it once"}}) {
    std::vector<std::string> words{std::string(RINGCHECK_PROGRAM_DIR) + "/ringcheck_scaling", "--case", test};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = Running(words).wait();
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(says));
  }
}

// What strategy auto goes by: refused before any work, whatever is wrong with it.
TEST_F(ResultFiles, FiguresThatAutoCannotGoByAreBadInput) {
  const std::string other = folder_.file("other.json"), cut = folder_.file("cut.json");
  result({"ringcheck", "verify", "--case", kCase, "--json"}, "verify");
  std::filesystem::copy(file(), other);
  write_text(cut, read_text(other).substr(0, 100));
  const std::string open = "auto/headtail/causal/P2/s40/d16/bf16";
  const std::vector<std::pair<Words, std::string>> wrong{
      {{"--case", open, "--figures", "/nowhere/figures"}, "/nowhere/figures"},
      {{"--case", open, "--figures", folder_.path()}, "no regular file"},
      {{"--case", open, "--figures", cut}, "is no JSON"},
      {{"--case", open, "--figures", other}, "of kind verify, not scaling"},
      {{"--case", open, "--figures", ""}, "--figures is empty"},
      {{"--case", open, "--figures", other, "--json", other}, other},
      {{"--case", kCase, "--figures", other}, "no --case begins with auto/"},
      {{"--case", open}, "known: cudnn-atomic, wgmma; name one of them"},
      {{"--case", "auto/ring:p2p/headtail"}, "auto/"}};
  for (auto [words, says] : wrong) {
    words.insert(words.begin(), std::string(RINGCHECK_PROGRAM_DIR) + "/ringcheck_scaling");
    const Ran ran = Running(words).wait();
    EXPECT_EQ(ran.code, 2) << says << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(says));
  }
  EXPECT_EQ(json::parse(read_text(other))["kind"], "verify");
}

// As `ringcheck` refuses them.
TEST(Bench, BadOptionsAreBadInput) {
  const std::vector<std::pair<Words, std::string>> wrong{
      {{"ringcheck_bench", "--speed"}, "ringcheck_bench: unknown word '--speed'"},
      {{"ringcheck_bench", "--json", ""}, "ringcheck_bench: --json: got ''"},
      {{"ringcheck_scaling"}, "ringcheck_scaling: --case is required; give it"},
      {{"ringcheck_scaling", "--speed"}, "ringcheck_scaling: unknown word '--speed'"},
      {{"ringcheck_scaling", "--pairs", "0"}, "--pairs: got '0'; want a whole number from 1 to 10000"},
      {{"ringcheck_scaling", "--json", ""}, "ringcheck_scaling: --json: got ''"}};
  for (auto [words, says] : wrong) {
    words.front() = std::string(RINGCHECK_PROGRAM_DIR) + "/" + words.front();
    const Ran ran = Running(words).wait();
    EXPECT_EQ(ran.code, 2) << says << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(says));
  }
}

}  // namespace
}  // namespace ringcheck::testing
