// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// MPI between two ranks, counted.
#include "cp/worlds/mpi/mpi_calls.h"

using ringcheck::MpiCall;

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const MpiCall call("MPI_Send", comm);
  call.sends(to, count, type);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const MpiCall call("MPI_Ssend", comm);
  call.sends(to, count, type);
  return PMPI_Ssend(data, count, type, to, tag, comm);
}

int MPI_Bsend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const MpiCall call("MPI_Bsend", comm);
  call.sends(to, count, type);
  return PMPI_Bsend(data, count, type, to, tag, comm);
}

int MPI_Rsend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const MpiCall call("MPI_Rsend", comm);
  call.sends(to, count, type);
  return PMPI_Rsend(data, count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const MpiCall call("MPI_Isend", comm);
  call.sends(to, count, type);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const MpiCall call("MPI_Issend", comm);
  call.sends(to, count, type);
  return PMPI_Issend(data, count, type, to, tag, comm, request);
}

int MPI_Ibsend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const MpiCall call("MPI_Ibsend", comm);
  call.sends(to, count, type);
  return PMPI_Ibsend(data, count, type, to, tag, comm, request);
}

int MPI_Irsend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const MpiCall call("MPI_Irsend", comm);
  call.sends(to, count, type);
  return PMPI_Irsend(data, count, type, to, tag, comm, request);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  const MpiCall call("MPI_Recv", comm);
  call.receives(from, count, type);
  return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const MpiCall call("MPI_Irecv", comm);
  call.receives(from, count, type);
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Mrecv(void* data, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  const MpiCall call("MPI_Mrecv", MPI_COMM_WORLD);
  call.receives(MPI_ANY_SOURCE, count, type);
  return PMPI_Mrecv(data, count, type, message, status);
}

int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message,
               MPI_Request* request) {
  const MpiCall call("MPI_Imrecv", MPI_COMM_WORLD);
  call.receives(MPI_ANY_SOURCE, count, type);
  return PMPI_Imrecv(data, count, type, message, request);
}

int MPI_Sendrecv(const void* out, int sent, MPI_Datatype out_type, int to, int out_tag, void* in,
                 int received, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
  const MpiCall call("MPI_Sendrecv", comm);
  call.sends(to, sent, out_type);
  call.receives(from, received, in_type);
  return PMPI_Sendrecv(out, sent, out_type, to, out_tag, in, received, in_type, from, in_tag, comm,
                       status);
}

int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int out_tag, int from,
                         int in_tag, MPI_Comm comm, MPI_Status* status) {
  const MpiCall call("MPI_Sendrecv_replace", comm);
  call.sends(to, count, type);
  call.receives(from, count, type);
  return PMPI_Sendrecv_replace(data, count, type, to, out_tag, from, in_tag, comm, status);
}

}  // extern "C"
