// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cp/worlds/torch_variables.h"

namespace ringcheck {

// Who started this process as one of several ranks, as its environment says. -1: not said.
struct Launcher {
  std::string name;
  int rank = -1;
  int size = -1;
  int local_rank = -1;
  int local_size = -1;
  std::string place = {};  // HOST:PORT of the store at which its ranks meet; empty: over MPI
};

// MPI's own variables are preferred over Slurm's, which mpirun passes on inside an allocation, and
// over those of torch.distributed, unless torchrun set them. Nothing where no launcher started this
// process: the script of a Slurm batch job, or the only rank that somebody set the variables of
// torch.distributed for. Throws BadLaunch where these make no sense.
std::optional<Launcher> detect_launcher(const Lookup& environment);
std::optional<Launcher> detect_launcher();

// How many of the ranks of a world are processes of this host; all of them, where nobody says.
int processes_here(int world, const std::optional<Launcher>& launcher);

// Of the GPUs that a process sees, `visible` of them, the one that is its own: by its number on the host, or
// the only one, where a launcher shows each process another one alone (CUDA_VISIBLE_DEVICES names one, as
// Slurm's --gpus-per-task does). Nothing where there is none for it.
std::optional<int> gpu_of_process(int local_rank, int visible, const Lookup& environment);
std::optional<int> gpu_of_process(int local_rank);

// Why the processes of this host in such a world cannot have a GPU each, and the fix; nothing where they can.
std::optional<std::string> lacks_gpus(int world);

// "Open MPI: rank 1 of 4, local rank 1 of 4"
std::string describe(const Launcher& launcher);

// Every rank thinks that it is alone: what is wrong and the fix. Nothing where the launcher and MPI
// agree on the size of the world.
std::optional<std::string> mismatch(const Launcher& launcher, int mpi_rank, int mpi_size);

}  // namespace ringcheck
