// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ringcheck {

// Who started this process as one of several ranks, as its environment says. -1: not said.
struct Launcher {
  std::string name;
  int rank = -1;
  int size = -1;
  int local_rank = -1;
  int local_size = -1;
};

// Looks up a variable of the environment; null where it is not set.
using Lookup = std::function<const char*(const char*)>;

// MPI's own variables are preferred over Slurm's, which mpirun passes on inside an allocation.
// Nothing where no launcher started this process; the script of a Slurm batch job is such a
// process.
std::optional<Launcher> detect_launcher(const Lookup& environment);
std::optional<Launcher> detect_launcher();

// "Open MPI: rank 1 of 4, local rank 1 of 4"
std::string describe(const Launcher& launcher);

// Every rank thinks that it is alone: what is wrong and the fix. Nothing where the launcher and MPI
// agree on the size of the world.
std::optional<std::string> mismatch(const Launcher& launcher, int mpi_rank, int mpi_size);

}  // namespace ringcheck
