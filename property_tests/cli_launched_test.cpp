// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The real command as ranks that the user's launcher starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/program.h"

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
  const Ran ran = ringcheck({"verify", "--seq", "40"},
                            {{"TORCHELASTIC_RUN_ID", "none"}, {"RANK", "0"}, {"WORLD_SIZE", "4"}});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("start with mpirun"));
}

}  // namespace
}  // namespace ringcheck::testing
