// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// MPI's collectives without a root, counted as the messages that would carry them directly.
#include "cp/worlds/mpi/mpi_calls.h"

using ringcheck::MpiCall;

namespace {

void count_to_all(const MpiCall& call, int count, MPI_Datatype type) {
  call.sends_all(count, type);
  call.receives_all(count, type);
}

void count_allgatherv(const MpiCall& call, const int* received, MPI_Datatype type) {
  for (int rank = 0; rank < call.size(); ++rank) {
    call.sends(rank, received[call.rank()], type);
    call.receives(rank, received[rank], type);
  }
}

void count_reduce_scatter(const MpiCall& call, const int* received, MPI_Datatype type) {
  for (int rank = 0; rank < call.size(); ++rank) {
    call.sends(rank, received[rank], type);
    call.receives(rank, received[call.rank()], type);
  }
}

// In place, what is sent is what is received.
void count_alltoallv(const MpiCall& call, const void* out, const int* sent, MPI_Datatype out_type,
                     const int* received, MPI_Datatype in_type) {
  const bool in_place = out == MPI_IN_PLACE;
  for (int rank = 0; rank < call.size(); ++rank) {
    call.sends(rank, in_place ? received[rank] : sent[rank], in_place ? in_type : out_type);
    call.receives(rank, received[rank], in_type);
  }
}

void count_alltoallw(const MpiCall& call, const void* out, const int* sent,
                     const MPI_Datatype* out_types, const int* received,
                     const MPI_Datatype* in_types) {
  const bool in_place = out == MPI_IN_PLACE;
  for (int rank = 0; rank < call.size(); ++rank) {
    call.sends(rank, in_place ? received[rank] : sent[rank],
               in_place ? in_types[rank] : out_types[rank]);
    call.receives(rank, received[rank], in_types[rank]);
  }
}

}  // namespace

extern "C" {

int MPI_Allgather(const void* out, int sent, MPI_Datatype out_type, void* in, int received,
                  MPI_Datatype in_type, MPI_Comm comm) {
  const MpiCall call("MPI_Allgather", comm);
  count_to_all(call, received, in_type);
  return PMPI_Allgather(out, sent, out_type, in, received, in_type, comm);
}

int MPI_Iallgather(const void* out, int sent, MPI_Datatype out_type, void* in, int received,
                   MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Iallgather", comm);
  count_to_all(call, received, in_type);
  return PMPI_Iallgather(out, sent, out_type, in, received, in_type, comm, request);
}

int MPI_Allgatherv(const void* out, int sent, MPI_Datatype out_type, void* in, const int* received,
                   const int* places, MPI_Datatype in_type, MPI_Comm comm) {
  const MpiCall call("MPI_Allgatherv", comm);
  count_allgatherv(call, received, in_type);
  return PMPI_Allgatherv(out, sent, out_type, in, received, places, in_type, comm);
}

int MPI_Iallgatherv(const void* out, int sent, MPI_Datatype out_type, void* in, const int* received,
                    const int* places, MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Iallgatherv", comm);
  count_allgatherv(call, received, in_type);
  return PMPI_Iallgatherv(out, sent, out_type, in, received, places, in_type, comm, request);
}

int MPI_Alltoall(const void* out, int sent, MPI_Datatype out_type, void* in, int received,
                 MPI_Datatype in_type, MPI_Comm comm) {
  const MpiCall call("MPI_Alltoall", comm);
  count_to_all(call, received, in_type);
  return PMPI_Alltoall(out, sent, out_type, in, received, in_type, comm);
}

int MPI_Ialltoall(const void* out, int sent, MPI_Datatype out_type, void* in, int received,
                  MPI_Datatype in_type, MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Ialltoall", comm);
  count_to_all(call, received, in_type);
  return PMPI_Ialltoall(out, sent, out_type, in, received, in_type, comm, request);
}

int MPI_Alltoallv(const void* out, const int* sent, const int* out_places, MPI_Datatype out_type,
                  void* in, const int* received, const int* in_places, MPI_Datatype in_type,
                  MPI_Comm comm) {
  const MpiCall call("MPI_Alltoallv", comm);
  count_alltoallv(call, out, sent, out_type, received, in_type);
  return PMPI_Alltoallv(out, sent, out_places, out_type, in, received, in_places, in_type, comm);
}

int MPI_Ialltoallv(const void* out, const int* sent, const int* out_places, MPI_Datatype out_type,
                   void* in, const int* received, const int* in_places, MPI_Datatype in_type,
                   MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Ialltoallv", comm);
  count_alltoallv(call, out, sent, out_type, received, in_type);
  return PMPI_Ialltoallv(out, sent, out_places, out_type, in, received, in_places, in_type, comm,
                         request);
}

int MPI_Alltoallw(const void* out, const int* sent, const int* out_places, const MPI_Datatype*
                  out_types, void* in, const int* received, const int* in_places, const
                  MPI_Datatype* in_types, MPI_Comm comm) {
  const MpiCall call("MPI_Alltoallw", comm);
  count_alltoallw(call, out, sent, out_types, received, in_types);
  return PMPI_Alltoallw(out, sent, out_places, out_types, in, received, in_places, in_types, comm);
}

int MPI_Ialltoallw(const void* out, const int* sent, const int* out_places, const MPI_Datatype*
                   out_types, void* in, const int* received, const int* in_places, const
                   MPI_Datatype* in_types, MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Ialltoallw", comm);
  count_alltoallw(call, out, sent, out_types, received, in_types);
  return PMPI_Ialltoallw(out, sent, out_places, out_types, in, received, in_places, in_types, comm,
                         request);
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
                  {
  const MpiCall call("MPI_Allreduce", comm);
  count_to_all(call, count, type);
  return PMPI_Allreduce(out, in, count, type, op, comm);
}

int MPI_Iallreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm
                   comm, MPI_Request* request) {
  const MpiCall call("MPI_Iallreduce", comm);
  count_to_all(call, count, type);
  return PMPI_Iallreduce(out, in, count, type, op, comm, request);
}

int MPI_Reduce_scatter(const void* out, void* in, const int* received, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  const MpiCall call("MPI_Reduce_scatter", comm);
  count_reduce_scatter(call, received, type);
  return PMPI_Reduce_scatter(out, in, received, type, op, comm);
}

int MPI_Ireduce_scatter(const void* out, void* in, const int* received, MPI_Datatype type, MPI_Op
                        op, MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Ireduce_scatter", comm);
  count_reduce_scatter(call, received, type);
  return PMPI_Ireduce_scatter(out, in, received, type, op, comm, request);
}

int MPI_Reduce_scatter_block(const void* out, void* in, int received, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  const MpiCall call("MPI_Reduce_scatter_block", comm);
  count_to_all(call, received, type);
  return PMPI_Reduce_scatter_block(out, in, received, type, op, comm);
}

int MPI_Ireduce_scatter_block(const void* out, void* in, int received, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
  const MpiCall call("MPI_Ireduce_scatter_block", comm);
  count_to_all(call, received, type);
  return PMPI_Ireduce_scatter_block(out, in, received, type, op, comm, request);
}

}  // extern "C"
