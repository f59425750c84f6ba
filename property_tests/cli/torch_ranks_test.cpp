// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT make, without any launcher.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>

#include "property_tests/cli/launched_run.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Variables = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

class TorchRanks : public LaunchedRun {};

double seconds_of(const std::function<void()>& what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_F(TorchRanks, MeetAtTheAddress) {
  const std::string port = free_port();
  const Words words{"--seq", "40", "--dim", "16"};
  const auto second = rank(1, 2, port, words), first = rank(0, 2, port, words);
  const Ran ran = first->wait();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(second->wait().code, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("rank 0 of 2"), HasSubstr("1 case: 1 passed")));
  EXPECT_EQ(result()["summary"]["passed"], 1);
}

TEST_F(TorchRanks, TheOnlyOneIsAsIfAlone) {
  const Ran ran = ringcheck({"verify", "--seq", "40", "--dim", "16", "--world", "3"},
                            {{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("no launcher"), HasSubstr("thread"), HasSubstr("1 passed")));
}

// launcher_test has the whole table; here, that no time is spent on what makes no sense.
TEST_F(TorchRanks, WhatMakesNoSenseIsBadInputAtOnce) {
  struct Wrong {
    Variables variables;
    std::string says;
  };
  const Variables place{{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}};
  const auto with = [&](Variables variables) {
    variables.insert(place.begin(), place.end());
    return variables;
  };
  const Wrong table[] = {
      {with({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), "RANK='2' is no number from 0 to 1"},
      {with({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}), "RANK='-1' is no number"},
      {with({{"RANK", "one"}, {"WORLD_SIZE", "2"}}), "RANK='one' is no number"},
      {with({{"RANK", "0"}, {"WORLD_SIZE", "two"}}), "WORLD_SIZE='two' is no number"},
      {with({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "65536"}}),
       "MASTER_PORT='65536' is no number from 1 to 65535"},
      {with({{"RANK", "0"}}), "WORLD_SIZE is not set beside RANK=0"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}}, "MASTER_ADDR is not set"},
      {{{"MASTER_PORT", "29500"}}, "RANK is not set beside MASTER_PORT=29500"}};
  const double start = seconds_of([] { ringcheck({"--version"}); });
  for (const auto& [variables, says] : table) {
    Ran ran;
    const double took = seconds_of([&] { ran = ringcheck({"verify", "--seq", "40"}, variables); });
    EXPECT_EQ(ran.code, 2) << says;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(says), HasSubstr("unset all four"))) << says;
    EXPECT_LT(took, 2 + 3 * start) << says;
  }
}

TEST_F(TorchRanks, OneWhosePartnerNeverComesSaysWhom) {
  const std::string port = free_port();
  const double deadline = 3, margin = 5, start = seconds_of([] { ringcheck({"--version"}); });
  for (const int present : {0, 1}) {
    Ran ran;
    const double took = seconds_of([&] {
      ran = rank(present, 2, port, {"--seq", "40", "--dim", "16", "--deadline", "3"})->wait();
    });
    EXPECT_EQ(ran.code, 5) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("ringcheck: rank " + std::to_string(present) + ": meet: rank " +
                                   std::to_string(1 - present)));
    EXPECT_THAT(ran.err, AllOf(HasSubstr("127.0.0.1"), HasSubstr(port)));
    EXPECT_LT(took, deadline + margin + 3 * start);
  }
  const json cases = result()["cases"];
  EXPECT_EQ(cases[0]["verdict"], "hang");
  EXPECT_THAT(cases[0]["reason"].get<std::string>(), HasSubstr("rank 1 of 2 did not come"));
  EXPECT_TRUE(alive().empty()) << "orphans survive";
}

TEST_F(TorchRanks, OneThatIsKilledIsACrash) {
  const std::string port = free_port();
  Words words = kThreeCases;
  words.insert(words.end(), {"--deadline", "10"});
  std::vector<std::unique_ptr<Running>> ranks;
  for (int i = 0; i < 3; ++i) ranks.push_back(rank(i, 3, port, words));
  ::kill(process(1), SIGKILL);
  EXPECT_EQ(ranks[0]->wait().code, 5);
  EXPECT_EQ(ranks[2]->wait().code, 5);
  EXPECT_THAT(second_case("crash")["reason"].get<std::string>(), StartsWith("rank 1 in "));
  EXPECT_TRUE(wait_until(20, [&] { return alive().empty(); })) << "orphans survive";
  EXPECT_FALSE(exists("result.json.journal"));
}

TEST_F(TorchRanks, ThreadsAreNoRanksOfThem) {
  const Words words{"--world-kind", "thread", "--seq", "40", "--world", "2"};
  const Ran ran = rank(1, 2, free_port(), words)->wait();
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--world-kind thread"));
  EXPECT_EQ(Running({"/usr/bin/env", "mpirun", "-n", "1", ringcheck_program(), "verify",
                     "--world-kind", "thread", "--seq", "40", "--world", "2"},
                    {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}})
                .wait()
                .code,
            0);
}

// Beside a result that goes to stdout there is no file: the journal is in a temporary folder.
TEST_F(TorchRanks, AResultOnStandardOutputIsMadeAsWell) {
  const std::string port = free_port();
  Words words{ringcheck_program(), "verify", "--json", "-", "--deadline", "3", "--seq", "40"};
  Running first(words, {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"},
                        {"MASTER_PORT", port}});
  const Ran ran = first.wait();
  EXPECT_EQ(ran.code, 5);
  EXPECT_EQ(json::parse(ran.out)["cases"][0]["verdict"], "hang");
}

}  // namespace
}  // namespace ringcheck::testing
