// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The programs as a script runs them: ringcheck_search, alone and under mpirun, and what no test
// program may call green.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/detail/Configuration.h>

#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"
#include "property_tests/property.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Ran ran(const std::string& program, const Words& words,
        const std::map<std::string, std::string>& environment = {}) {
  Words all{RINGCHECK_PROGRAM_DIR "/" + program};
  all.insert(all.end(), words.begin(), words.end());
  return Running(all, environment).wait();
}

class SearchProgram : public ::testing::Test {
 protected:
  Words words(const Words& more) const {
    Words all{"--seed", "1", "--record", folder_.file("record")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Ran under_mpirun(int ranks, const Words& more) const {
    Words all{"/usr/bin/env", "mpirun", "-n", std::to_string(ranks),
              RINGCHECK_PROGRAM_DIR "/ringcheck_search"};
    for (const std::string& word : words(more))
      all.push_back(word);
    return Running(all).wait();
  }
  json record() const { return json::parse(read_text(folder_.file("record"))).at("search"); }

  Folder folder_;
};

TEST_F(SearchProgram, AFailureIsCodeOneWithARecordAndACommand) {
  const Ran run = ran("ringcheck_search", words({"--plant", "wide-window"}));
  EXPECT_EQ(run.code, 1) << run.err;
  const std::string minimal = record()["failure"]["minimal"]["case"];
  EXPECT_THAT(minimal, HasSubstr("/window[1]/thread/cpu/P2/b1/hq1/hkv1/s2/"));
  EXPECT_THAT(run.out, HasSubstr("reproduce: ringcheck verify --case '" + minimal + "'"));
  EXPECT_EQ(record()["failure"]["minimal"]["command"], "ringcheck verify --case '" + minimal + "'");
  EXPECT_EQ(ringcheck({"verify", "--case", minimal}).code, 0);  // ours is right there
}

// The process dies in the middle of shrinking; what failed and what ran is on the disk.
TEST_F(SearchProgram, TheRecordSurvivesAnAbort) {
  const Ran run = ran("ringcheck_search", words({"--plant", "aborts-when-small"}));
  EXPECT_EQ(run.code, 128 + SIGABRT);
  EXPECT_EQ(record()["failure"]["original"]["verdict"], "fail");
  EXPECT_EQ(record()["failure"]["class"], "not run again");
  EXPECT_THAT(record()["running"]["case"].get<std::string>(), HasSubstr("/s1/"));
}

TEST_F(SearchProgram, ACaseThatNeverComesBackEndsWithCodeFive) {
  const Ran run = ran("ringcheck_search", words({"--plant", "runs-away", "--deadline", "0.3",
                                                 "--shrink", "0", "--case", "P3/s5/d4/float64"}));
  EXPECT_EQ(run.code, 5) << run.out;
  EXPECT_EQ(record()["failure"]["minimal"]["verdict"], "hang");
}

// Processes: the hung communicator is left alone, the next case gets another one, and all ranks
// end in order.
TEST_F(SearchProgram, AHangOfProcessesIsAVerdictAndShrinks) {
  const Ran run = under_mpirun(4, {"--plant", "goes-silent", "--deadline", "0.6", "--case",
                                   "ring:p2p/contiguous/full/P4/s2/hq1/d1/float64/normal"});
  EXPECT_EQ(run.code, 5) << run.out << run.err;
  EXPECT_EQ(record()["failure"]["minimal"]["verdict"], "hang");
  EXPECT_THAT(record()["failure"]["minimal"]["case"].get<std::string>(),
              HasSubstr("/mpi/cpu/P3/b1/hq1/hkv1/s1/"));
  EXPECT_THAT(record()["failure"]["minimal"]["reason"].get<std::string>(), HasSubstr(", peer "));
}

TEST_F(SearchProgram, AFailureOfProcessesShrinksToTwoOfFour) {
  const Ran run = under_mpirun(4, {"--plant", "wide-window"});
  EXPECT_EQ(run.code, 1) << run.out << run.err;
  EXPECT_THAT(record()["failure"]["minimal"]["case"].get<std::string>(),
              HasSubstr("/window[1]/mpi/cpu/P2/b1/hq1/hkv1/s2/d1/"));
}

// A process that never comes back cannot be replaced: the run ends, saying so, with its record.
TEST_F(SearchProgram, ALostWorldEndsTheRunWithItsRecord) {
  const Ran run = under_mpirun(3, {"--plant", "runs-away", "--deadline", "0.5"});
  EXPECT_EQ(run.code, 5) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("the world cannot be made anew"));
  EXPECT_EQ(record()["failure"]["original"]["verdict"], "hang");
}

TEST_F(SearchProgram, AnEmptyRequiredCellIsNotGreen) {
  const Ran run =
      ran("ringcheck_search", words({"--cases", "3", "--coverage", folder_.file("cells")}));
  EXPECT_EQ(run.code, 6);
  EXPECT_THAT(run.err, HasSubstr("no judged case has "));
  EXPECT_FALSE(json::parse(read_text(folder_.file("cells")))["missing"].empty());
}

TEST_F(SearchProgram, BadInputIsCodeTwo) {
  const std::vector<std::pair<Words, const char*>> wrong{
      {{"--cases", "-1"}, "--cases"},
      {{"--cases", "0"}, "nor both 0"},
      {{"--most-world", "0"}, "from 1 to 64"},
      {{"--deadline", "0"}, "--deadline must be above 0"},
      {{"--device", "tpu"}, "unknown device 'tpu'"},
      {{"--case", "P0"}, "world is 0"},
      {{"--plant", "tree"}, "--plant tree"},
      {{"--record", "/nowhere/record"}, "/nowhere/record"},
      {{"--speed"}, "--speed"}};
  for (const auto& [options, says] : wrong) {
    const Ran run = ran("ringcheck_search", options);
    EXPECT_EQ(run.code, 2) << says;
    EXPECT_THAT(run.err, HasSubstr(says));
  }
}

// RC_PARAMS that reproduces one case of another property, and none of this program.
std::string reproducing() {
  rc::detail::Configuration configuration;
  configuration.reproduce["Nobody/Knows"] = {rc::Random(1), 1, {}};
  return rc::detail::configToString(configuration);
}

TEST(Gating, NothingPassesByReproduce) {
  for (const char* program : {"case_laws", "shard_laws", "ringcheck_search"}) {
    const Ran run = ran(program, {}, {{"RC_PARAMS", reproducing()}});
    EXPECT_EQ(run.code, 2) << program << run.out << run.err;
    EXPECT_THAT(run.err, HasSubstr("reproduce"));
    EXPECT_THAT(run.out, ::testing::Not(HasSubstr("PASSED")));
  }
  const Ran looked = ran("case_laws", {"--reproduce"}, {{"RC_PARAMS", reproducing()}});
  EXPECT_EQ(looked.code, 77);
  EXPECT_THAT(looked.out, HasSubstr("SKIPPED"));
}

TEST(Gating, APropertyThatRanNothingDoesNotPass) {
  EXPECT_EQ(ran("case_laws", {}, {{"RC_PARAMS", "max_success=0"}}).code, 2);
  EXPECT_EQ(ran("case_laws", {}, {{"RC_PARAMS", "max_success=many"}}).code, 2);
  EXPECT_EQ(ran("case_laws", {"--gtest_filter=Nobody.*"}).code, 77);
}

}  // namespace
}  // namespace ringcheck::testing
