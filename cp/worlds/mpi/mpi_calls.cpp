// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/mpi/mpi_calls.h"

namespace ringcheck {
namespace {

int64_t bytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return int64_t{count} * size;
}

}  // namespace

MpiCall::MpiCall(const char* name, MPI_Comm comm) : call_(name), comm_(comm) {
  if (!call_.counts()) return;
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &size_);
}

void MpiCall::sends(int peer, int count, MPI_Datatype type) const {
  if (carries(peer)) call_.sends(world_rank(peer), bytes(count, type));
}

void MpiCall::receives(int peer, int count, MPI_Datatype type) const {
  if (carries(peer)) call_.receives(world_rank(peer), bytes(count, type));
}

void MpiCall::sends_all(int count, MPI_Datatype type) const {
  for (int peer = 0; peer < size_; ++peer) sends(peer, count, type);
}

void MpiCall::receives_all(int count, MPI_Datatype type) const {
  for (int peer = 0; peer < size_; ++peer) receives(peer, count, type);
}

int MpiCall::world_rank(int peer) const {
  if (peer == MPI_ANY_SOURCE) return -1;
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm_, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int rank = MPI_UNDEFINED;
  PMPI_Group_translate_ranks(group, 1, &peer, world, &rank);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return rank == MPI_UNDEFINED ? -1 : rank;
}

}  // namespace ringcheck
