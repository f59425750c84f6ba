// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// MPI's collectives of one root, counted as the messages that would carry them directly.
#include "cp/worlds/mpi/mpi_calls.h"

using ringcheck::MpiCall;

namespace {

// What the root holds for, or gets from, each other rank; what each other one gets or holds.
void count_from_root(const MpiCall& call, int root, int each, MPI_Datatype each_type, int own,
                     MPI_Datatype own_type) {
  if (call.rank() == root) call.sends_all(each, each_type);
  else call.receives(root, own, own_type);
}
void count_to_root(const MpiCall& call, int root, int each, MPI_Datatype each_type, int own,
                   MPI_Datatype own_type) {
  if (call.rank() == root) call.receives_all(each, each_type);
  else call.sends(root, own, own_type);
}

void count_scatterv(const MpiCall& call, int root, const int* each, MPI_Datatype each_type, int own,
                    MPI_Datatype own_type) {
  if (call.rank() != root) return call.receives(root, own, own_type);
  for (int rank = 0; rank < call.size(); ++rank) call.sends(rank, each[rank], each_type);
}
void count_gatherv(const MpiCall& call, int root, const int* each, MPI_Datatype each_type, int own,
                   MPI_Datatype own_type) {
  if (call.rank() != root) return call.sends(root, own, own_type);
  for (int rank = 0; rank < call.size(); ++rank) call.receives(rank, each[rank], each_type);
}

}  // namespace

extern "C" {

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const MpiCall call("MPI_Bcast", comm);
  count_from_root(call, root, count, type, count, type);
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request*
               request) {
  const MpiCall call("MPI_Ibcast", comm);
  count_from_root(call, root, count, type, count, type);
  return PMPI_Ibcast(data, count, type, root, comm, request);
}

int MPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const MpiCall call("MPI_Reduce", comm);
  count_to_root(call, root, count, type, count, type);
  return PMPI_Reduce(out, in, count, type, op, root, comm);
}

int MPI_Ireduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Ireduce", comm);
  count_to_root(call, root, count, type, count, type);
  return PMPI_Ireduce(out, in, count, type, op, root, comm, request);
}

int MPI_Gather(const void* out, int sent, MPI_Datatype out_type, void* in, int received,
               MPI_Datatype in_type, int root, MPI_Comm comm) {
  const MpiCall call("MPI_Gather", comm);
  count_to_root(call, root, received, in_type, sent, out_type);
  return PMPI_Gather(out, sent, out_type, in, received, in_type, root, comm);
}

int MPI_Igather(const void* out, int sent, MPI_Datatype out_type, void* in, int received,
                MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Igather", comm);
  count_to_root(call, root, received, in_type, sent, out_type);
  return PMPI_Igather(out, sent, out_type, in, received, in_type, root, comm, request);
}

int MPI_Gatherv(const void* out, int sent, MPI_Datatype out_type, void* in, const int* received,
                const int* places, MPI_Datatype in_type, int root, MPI_Comm comm) {
  const MpiCall call("MPI_Gatherv", comm);
  count_gatherv(call, root, received, in_type, sent, out_type);
  return PMPI_Gatherv(out, sent, out_type, in, received, places, in_type, root, comm);
}

int MPI_Igatherv(const void* out, int sent, MPI_Datatype out_type, void* in, const int* received,
                 const int* places, MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request*
                 request) {
  const MpiCall call("MPI_Igatherv", comm);
  count_gatherv(call, root, received, in_type, sent, out_type);
  return PMPI_Igatherv(out, sent, out_type, in, received, places, in_type, root, comm, request);
}

int MPI_Scatter(const void* out, int sent, MPI_Datatype out_type, void* in, int received,
                MPI_Datatype in_type, int root, MPI_Comm comm) {
  const MpiCall call("MPI_Scatter", comm);
  count_from_root(call, root, sent, out_type, received, in_type);
  return PMPI_Scatter(out, sent, out_type, in, received, in_type, root, comm);
}

int MPI_Iscatter(const void* out, int sent, MPI_Datatype out_type, void* in, int received,
                 MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Iscatter", comm);
  count_from_root(call, root, sent, out_type, received, in_type);
  return PMPI_Iscatter(out, sent, out_type, in, received, in_type, root, comm, request);
}

int MPI_Scatterv(const void* out, const int* sent, const int* places, MPI_Datatype out_type, void*
                 in, int received, MPI_Datatype in_type, int root, MPI_Comm comm) {
  const MpiCall call("MPI_Scatterv", comm);
  count_scatterv(call, root, sent, out_type, received, in_type);
  return PMPI_Scatterv(out, sent, places, out_type, in, received, in_type, root, comm);
}

int MPI_Iscatterv(const void* out, const int* sent, const int* places, MPI_Datatype out_type, void*
                  in, int received, MPI_Datatype in_type, int root, MPI_Comm comm, MPI_Request*
                  request) {
  const MpiCall call("MPI_Iscatterv", comm);
  count_scatterv(call, root, sent, out_type, received, in_type);
  return PMPI_Iscatterv(out, sent, places, out_type, in, received, in_type, root, comm, request);
}

}  // extern "C"
