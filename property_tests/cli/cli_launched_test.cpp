// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The real command as ranks that the user's launcher starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "property_tests/cli/launched_run.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

// As a user starts it.
Ran under_mpirun(const std::string& ranks, const Words& words) {
  Words all{"/usr/bin/env", "mpirun", "-n", ranks, ringcheck_program(), "verify"};
  all.insert(all.end(), words.begin(), words.end());
  Running program(all, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                        {"OMPI_MCA_rmaps_base_oversubscribe", "1"}});
  return program.wait();
}

TEST(Launched, RanksRunWithoutASupervisor) {
  const Ran ran = under_mpirun("2", {"--seq", "40", "--dim", "16", "--rotation", "p2p,alltoall"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Open MPI: rank 0 of 2"));
  EXPECT_THAT(ran.out, HasSubstr("2 cases: 2 passed"));
  EXPECT_EQ(ran.out.find("RingCheck"), ran.out.rfind("RingCheck"));
}

TEST(Launched, AnotherWorldThanTheLaunchersIsRefused) {
  const Ran ran = under_mpirun("2", {"--world", "3"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("a world of 3"));
}

TEST(Launched, RanksThatThinkTheyAreAloneAreToldTheFix) {
  const Ran ran = ringcheck({"verify", "--seq", "40"}, {{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("start with the mpirun"));
}

// Alone, so that no other rank waits for it: long in one operation, and then no more.
TEST(Launched, ARankThatFallsSilentEndsWithItsOperation) {
  const Ran ran = under_mpirun("1", {"--seq", "32K", "--heads", "8", "--dim", "128", "--deadline", "0.1"});
  EXPECT_EQ(ran.code, 5) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("ringcheck: rank 0: hang: no sign of life for 5.1 s after"));
  EXPECT_THAT(ran.err, HasSubstr("/hq8/"));
}

// What torchrun tells each of its ranks.
std::map<std::string, std::string> torchrun(int rank, int world, const std::string& port) {
  return {{"TORCHELASTIC_RUN_ID", "test"},         {"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(world)},   {"LOCAL_RANK", std::to_string(rank)},
          {"LOCAL_WORLD_SIZE", std::to_string(world)}, {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", port}};
}

// Every collective and both passes through the store, 3 ranks; sizes beyond one value of it.
TEST(Launched, RanksOfTorchrunMeetAtTheStore) {
  const std::string port = free_port();
  const Words words{ringcheck_program(), "verify", "--seq", "40,2K", "--dim", "64", "--heads", "8",
                    "--rotation", "p2p,alltoall,allgather", "--dtype", "float64"};
  std::vector<std::unique_ptr<Running>> ranks;
  for (int rank = 2; rank >= 0; --rank)
    ranks.push_back(std::make_unique<Running>(words, torchrun(rank, 3, port)));
  for (size_t i = 0; i < ranks.size(); ++i) {
    const Ran ran = ranks[i]->wait();
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_EQ(ran.out.find("6 cases: 6 passed") != std::string::npos, i == 2) << ran.out;
  }
}

TEST(Launched, ARankOfTorchrunWithoutAMeetingPlaceIsRefused) {
  const Ran ran = ringcheck({"verify", "--seq", "40"},
                            {{"TORCHELASTIC_RUN_ID", "none"}, {"RANK", "0"}, {"WORLD_SIZE", "4"}});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("MASTER_PORT"));
}

}  // namespace
}  // namespace ringcheck::testing
