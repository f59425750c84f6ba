// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/launcher.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "cp/device/moment.h"

namespace ringcheck {
namespace {

// Where a launcher says what. `proof` is set by it alone; null: rank is proof enough.
struct Names {
  const char* launcher;
  const char* proof;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

constexpr Names kMpi[] = {
    {"Open MPI", nullptr, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MVAPICH2", nullptr, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"MPICH (Hydra)", nullptr, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
};
constexpr Names kSchedulers[] = {
    {"Slurm srun", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
     "SLURM_NTASKS_PER_NODE"},
    {"Flux", nullptr, "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", nullptr},
    {"PALS", nullptr, "PALS_RANKID", nullptr, "PALS_LOCAL_RANKID", nullptr},
    {"PMIx", nullptr, "PMIX_RANK", nullptr, nullptr, nullptr},
};

int number(const Lookup& environment, const char* name) {
  const char* text = name == nullptr ? nullptr : environment(name);
  if (text == nullptr || *text == '\0')
    return -1;
  int value = -1;
  const char* end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, value);
  if (result.ec != std::errc{} || result.ptr != end || value < 0)
    throw BadLaunch(std::string("environment variable ") + name + "='" + text +
                    "' is no whole number from 0 on; start with a launcher, or leave it out");
  return value;
}

template <size_t size>
std::optional<Launcher> first_of(const Names (&table)[size], const Lookup& environment) {
  for (const Names& names : table) {
    if (names.proof != nullptr && environment(names.proof) == nullptr)
      continue;
    const int rank = number(environment, names.rank);
    if (rank < 0)
      continue;
    int size_said = number(environment, names.size);
    if (size_said < 0 && std::strcmp(names.rank, "SLURM_PROCID") == 0)
      size_said = number(environment, "SLURM_NTASKS");
    if (size_said >= 0 && rank >= size_said)
      throw BadLaunch(std::string("environment variable ") + names.rank + "=" + std::to_string(rank) +
                      ": the rank must be below the size, " + std::to_string(size_said));
    return Launcher{names.launcher, rank, size_said, number(environment, names.local_rank),
                    number(environment, names.local_size)};
  }
  return std::nullopt;
}

std::optional<Launcher> by_torch(const char* name, const Lookup& environment) {
  const auto said = torch_variables(environment);
  if (!said) return std::nullopt;
  return Launcher{name, said->rank, said->size, said->local_rank, said->local_size, said->place()};
}

}  // namespace

std::optional<Launcher> detect_launcher(const Lookup& environment) {
  if (environment("TORCHELASTIC_RUN_ID") != nullptr)
    if (const auto launcher = by_torch("torchrun", environment)) return launcher;
  if (auto launcher = first_of(kMpi, environment)) {
    // Slurm's pmi2 says rank and size as MPICH does, and leaves the place on the host to itself.
    const auto scheduled = launcher->local_rank < 0 ? first_of(kSchedulers, environment) : std::nullopt;
    if (scheduled && scheduled->rank == launcher->rank) {
      launcher->local_rank = scheduled->local_rank;
      launcher->local_size = scheduled->local_size;
    }
    return launcher;
  }
  // A batch script may set some of the four for others: whoever sets all of them means this process.
  const auto scheduled = first_of(kSchedulers, environment);
  if (scheduled && !has_torch_variables(environment)) return scheduled;
  const auto launcher = by_torch("RANK and WORLD_SIZE", environment);
  return launcher && launcher->size > 1 ? launcher : scheduled;
}

std::optional<Launcher> detect_launcher() { return detect_launcher(variable); }

int processes_here(int world, const std::optional<Launcher>& launcher) {
  return launcher && launcher->local_size > 0 ? std::min(world, launcher->local_size) : world;
}

std::optional<int> gpu_of_process(int local_rank, int visible, const Lookup& environment) {
  if (local_rank < 0) return std::nullopt;
  if (local_rank < visible) return local_rank;
  const char* named = environment("CUDA_VISIBLE_DEVICES");
  const bool one_each = visible == 1 && named != nullptr && detect_launcher(environment);
  return one_each ? std::optional(0) : std::nullopt;
}

std::optional<int> gpu_of_process(int local_rank) {
  return gpu_of_process(local_rank, device_count(at::kCUDA), variable);
}

std::optional<std::string> lacks_gpus(int world) {
  const int here = processes_here(world, detect_launcher());
  if (gpu_of_process(here - 1)) return std::nullopt;
  return "world " + std::to_string(world) + " of processes, " + std::to_string(here) +
         " of them on this host, needs a GPU a rank, found " + std::to_string(device_count(at::kCUDA)) +
         "; use world kind thread, or let each process see all GPUs of its host, or one of its own";
}

std::string describe(const Launcher& launcher) {
  const auto of = [](int part, int whole) {
    return std::to_string(part) + (whole < 0 ? "" : " of " + std::to_string(whole));
  };
  std::string text = launcher.name + ": rank " + of(launcher.rank, launcher.size);
  if (launcher.local_rank >= 0)
    text += ", local rank " + of(launcher.local_rank, launcher.local_size);
  return text;
}

std::optional<std::string> mismatch(const Launcher& launcher, int mpi_rank, int mpi_size) {
  const bool alone = launcher.size < 0 && launcher.rank > 0 && mpi_size == 1;
  if (!alone && (launcher.size < 0 || launcher.size == mpi_size))
    return std::nullopt;
  std::string text = launcher.name + " says rank " + std::to_string(launcher.rank) +
                     (launcher.size < 0 ? "" : " of " + std::to_string(launcher.size)) +
                     ", but MPI says rank " + std::to_string(mpi_rank) + " of " +
                     std::to_string(mpi_size);
  if (mpi_size == 1)
    text += ": every process thinks that it is rank 0 of a world of its own";
  if (launcher.name == "Slurm srun")
    return text + "; use srun --mpi=pmix (or pmi2), or mpirun inside the allocation";
  return text + "; start with the mpirun of the MPI library that libringcheck_mpi.so was built with";
}

}  // namespace ringcheck
