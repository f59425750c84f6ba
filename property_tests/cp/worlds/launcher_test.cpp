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

Lookup lookup(const Variables& variables) {
  return [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::optional<Launcher> detect(const Variables& variables) { return detect_launcher(lookup(variables)); }

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
        {"MASTER_ADDR", "node1"},
        {"MASTER_PORT", "29500"},
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

// As torch.multiprocessing and launches by hand set them.
Variables torch(const std::string& rank, const std::string& size) {
  return {{"RANK", rank}, {"WORLD_SIZE", size}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};
}

Variables operator+(Variables one, const Variables& other) {
  one.insert(other.begin(), other.end());
  return one;
}

// Which says nothing of the host, where Slurm does.
TEST(Launcher, SrunWithPmi2KnowsItsPlaceOnTheHost) {
  const Variables pmi2{{"PMI_RANK", "9"},       {"PMI_SIZE", "16"},      {"SLURM_STEP_ID", "0"},
                       {"SLURM_PROCID", "9"},   {"SLURM_LOCALID", "1"},  {"SLURM_STEP_NUM_TASKS", "16"},
                       {"SLURM_NTASKS_PER_NODE", "8"}};
  const auto launcher = detect(pmi2);
  ASSERT_TRUE(launcher);
  EXPECT_EQ(launcher->rank, 9);
  EXPECT_EQ(launcher->local_rank, 1);
  EXPECT_EQ(launcher->local_size, 8);
  EXPECT_EQ(processes_here(16, launcher), 8);
  // mpirun of Hydra inside a task of the allocation: Slurm's numbers are those of that task.
  Variables inside = pmi2;
  inside["SLURM_PROCID"] = "0";
  EXPECT_EQ(detect(inside)->local_rank, -1);
  EXPECT_EQ(processes_here(16, detect(inside)), 16);
  EXPECT_EQ(processes_here(4, launcher), 4);
  EXPECT_EQ(processes_here(4, std::nullopt), 4);
}

TEST(Launcher, TheVariablesOfTorchAreEnough) {
  const auto found = detect(torch("1", "4"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->size, 4);
  EXPECT_EQ(found->local_rank, -1);
  EXPECT_EQ(found->place, "node1:29500");
}

TEST(Launcher, MpirunIsNearerThanTheVariablesOfTorchAndSlurmFarther) {
  const Variables mpi{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}};
  const Variables slurm{{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}};
  EXPECT_EQ(detect(mpi + torch("1", "4"))->name, "Open MPI");
  EXPECT_EQ(detect(slurm + torch("1", "4"))->place, "node1:29500");
  EXPECT_EQ(detect(slurm + Variables{{"MASTER_ADDR", "node1"}, {"WORLD_SIZE", "8"}})->name,
            "Slurm srun");
}

TEST(Launcher, TheOnlyRankIsAlone) {
  EXPECT_FALSE(detect({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
  EXPECT_FALSE(detect(torch("0", "1")));
  EXPECT_EQ(detect(torch("0", "1") + Variables{{"TORCHELASTIC_RUN_ID", "x"}})->size, 1);
}

TEST(Launcher, WhatMakesNoSenseIsRefusedWithVariableAndValue) {
  struct Wrong {
    std::string name, value;
  };
  const Wrong table[] = {{"RANK", "4"},         {"RANK", "-1"},          {"RANK", "x"},
                         {"RANK", ""},          {"RANK", "1 "},          {"RANK", "0x1"},
                         {"RANK", "1.0"},       {"WORLD_SIZE", "0"},     {"WORLD_SIZE", "-4"},
                         {"WORLD_SIZE", "4x"},  {"WORLD_SIZE", "99999999999999999999"},
                         {"MASTER_ADDR", ""},   {"MASTER_ADDR", "a b"},  {"MASTER_PORT", "0"},
                         {"MASTER_PORT", "-1"}, {"MASTER_PORT", "65536"}, {"MASTER_PORT", "http"},
                         {"LOCAL_RANK", "-1"},  {"LOCAL_WORLD_SIZE", "0"}};
  for (const auto& [name, value] : table) {
    Variables variables = torch("1", "4");
    variables[name] = value;
    try {
      detect(variables);
      ADD_FAILURE() << name << "='" << value << "' is taken";
    } catch (const BadLaunch& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(name + "='" + value + "' is no "));
      EXPECT_THAT(error.what(), HasSubstr("unset all four"));
    }
  }
}

TEST(Launcher, SomeOfTheVariablesOfTorchAreTooFew) {
  for (const char* missing : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    Variables variables = torch("1", "4");
    variables.erase(missing);
    try {
      detect(variables);
      ADD_FAILURE() << "without " << missing;
    } catch (const BadLaunch& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(std::string(missing) + " is not set beside "));
    }
  }
}

TEST(Launcher, ABatchScriptIsNoRank) {
  EXPECT_FALSE(detect({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}}));
  EXPECT_FALSE(detect({{"OMPI_COMM_WORLD_RANK", ""}}));
  EXPECT_FALSE(detect({}));
}

TEST(Launcher, WhatIsNoRankIsRefused) {
  const Variables torchrun = torch("0", "4") + Variables{{"TORCHELASTIC_RUN_ID", "1"}};
  for (const char* rank : {"x", "-1", "1.5", "1 ", "99999999999", "4", "5"}) {
    Variables variables = torchrun;
    variables["RANK"] = rank;
    try {
      detect(variables);
      FAIL() << "RANK=" << rank << " is taken";
    } catch (const BadLaunch& error) {
      EXPECT_THAT(error.what(), HasSubstr("RANK="));
    }
  }
  EXPECT_THROW(detect({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "two"}}),
               BadLaunch);
}

TEST(Launcher, RanksThatAllThinkTheyAreAloneAreSeen) {
  EXPECT_FALSE(mismatch({"Open MPI", 1, 4, 1, 4}, 1, 4));
  const auto wrong = mismatch({"Slurm srun", 2, 4, 2, -1}, 0, 1);
  ASSERT_TRUE(wrong);
  EXPECT_THAT(*wrong, HasSubstr("--mpi=pmix"));
  EXPECT_TRUE(mismatch({"PMIx", 3, -1, -1, -1}, 0, 1));
  EXPECT_FALSE(mismatch({"PMIx", 0, -1, -1, -1}, 0, 1));
}

TEST(Launcher, AProcessHasTheGpuOfItsNumberOrTheOnlyOneThatItIsShown) {
  const Variables by_hand{{"CUDA_VISIBLE_DEVICES", "0"}};
  const Variables srun = {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "1"}};
  Variables bound = srun;
  bound["CUDA_VISIBLE_DEVICES"] = "0";  // of four: each task is shown one, which it calls 0
  for (const Variables& variables : {Variables(), by_hand, srun, bound}) {
    for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(gpu_of_process(rank, 4, lookup(variables)), rank);
    EXPECT_EQ(gpu_of_process(0, 1, lookup(variables)), 0);
    EXPECT_EQ(gpu_of_process(4, 4, lookup(variables)), std::nullopt);
    EXPECT_EQ(gpu_of_process(2, 2, lookup(variables)), std::nullopt);
    EXPECT_EQ(gpu_of_process(0, 0, lookup(variables)), std::nullopt);
    EXPECT_EQ(gpu_of_process(-1, 4, lookup(variables)), std::nullopt);
  }
  EXPECT_EQ(gpu_of_process(1, 1, lookup(bound)), 0);
  EXPECT_EQ(gpu_of_process(1, 1, lookup(srun)), std::nullopt);     // all of them see the only GPU
  EXPECT_EQ(gpu_of_process(1, 1, lookup(by_hand)), std::nullopt);  // nobody started several
}

}  // namespace
}  // namespace ringcheck
