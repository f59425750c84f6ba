// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ringcheck {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

std::optional<Launcher> detect(const Variables& variables) {
  return detect_launcher([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

struct Known {
  Variables variables;
  const char* name;
  int rank, size, local_rank, local_size;
};

TEST(Launcher, EachIsKnownByItsVariables) {
  const Known table[] = {
      {{{"RANK", "1"},
        {"WORLD_SIZE", "4"},
        {"LOCAL_RANK", "1"},
        {"LOCAL_WORLD_SIZE", "2"},
        {"TORCHELASTIC_RUN_ID", "none"}},
       "torchrun",
       1,
       4,
       1,
       2},
      {{{"OMPI_COMM_WORLD_RANK", "2"},
        {"OMPI_COMM_WORLD_SIZE", "3"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
        {"PMIX_RANK", "2"}},
       "Open MPI",
       2,
       3,
       0,
       1},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}},
       "MPICH (Hydra)",
       0,
       2,
       0,
       2},
      {{{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}}, "MVAPICH2", 1, 2, -1, -1},
      {{{"SLURM_STEP_ID", "0"},
        {"SLURM_PROCID", "3"},
        {"SLURM_NTASKS", "8"},
        {"SLURM_LOCALID", "3"}},
       "Slurm srun",
       3,
       8,
       3,
       -1},
      {{{"FLUX_TASK_RANK", "0"}, {"FLUX_JOB_SIZE", "2"}}, "Flux", 0, 2, -1, -1},
      {{{"PMIX_RANK", "5"}}, "PMIx", 5, -1, -1, -1}};
  for (const Known& known : table) {
    const auto found = detect(known.variables);
    ASSERT_TRUE(found) << known.name;
    EXPECT_EQ(found->name, known.name);
    EXPECT_EQ(found->rank, known.rank) << known.name;
    EXPECT_EQ(found->size, known.size) << known.name;
    EXPECT_EQ(found->local_rank, known.local_rank) << known.name;
    EXPECT_EQ(found->local_size, known.local_size) << known.name;
  }
}

TEST(Launcher, MpirunInsideASlurmAllocationIsMpirun) {
  const auto found = detect({{"SLURM_STEP_ID", "0"},
                             {"SLURM_PROCID", "0"},
                             {"SLURM_NTASKS", "1"},
                             {"OMPI_COMM_WORLD_RANK", "2"},
                             {"OMPI_COMM_WORLD_SIZE", "4"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "Open MPI");
}

TEST(Launcher, ABatchScriptIsNoRank) {
  EXPECT_FALSE(detect({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}}));
  EXPECT_FALSE(detect({{"RANK", "0"}, {"WORLD_SIZE", "4"}}));
  EXPECT_FALSE(detect({{"OMPI_COMM_WORLD_RANK", "x"}}));
  EXPECT_FALSE(detect({}));
}

TEST(Launcher, RanksThatAllThinkTheyAreAloneAreSeen) {
  EXPECT_FALSE(mismatch({"Open MPI", 1, 4, 1, 4}, 1, 4));
  const auto wrong = mismatch({"Slurm srun", 2, 4, 2, -1}, 0, 1);
  ASSERT_TRUE(wrong);
  EXPECT_THAT(*wrong, HasSubstr("--mpi=pmix"));
  EXPECT_TRUE(mismatch({"PMIx", 3, -1, -1, -1}, 0, 1));
  EXPECT_FALSE(mismatch({"PMIx", 0, -1, -1, -1}, 0, 1));
}

}  // namespace
}  // namespace ringcheck
