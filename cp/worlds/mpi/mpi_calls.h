// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "cp/ledger/bypass.h"

// MPI's profiling interface: whoever calls MPI_Send in a process that has loaded this library calls
// ours, which counts and calls PMPI_Send. That holds where the caller's symbol is bound after the
// library was loaded, as a plug-in's is, or where it is linked before the MPI library.
//
// Not seen: persistent requests, one-sided and neighbourhood operations.
namespace ringcheck {

// One call of MPI. Counts are those that it was given: a receive may get less.
class MpiCall {
 public:
  MpiCall(const char* name, MPI_Comm comm);

  int rank() const { return rank_; }
  int size() const { return size_; }  // 0 where nobody counts
  // To and from a rank of the communicator. MPI_PROC_NULL and the rank itself are nobody.
  void sends(int peer, int count, MPI_Datatype type) const;
  void receives(int peer, int count, MPI_Datatype type) const;
  // The same to and from each other rank.
  void sends_all(int count, MPI_Datatype type) const;
  void receives_all(int count, MPI_Datatype type) const;

 private:
  bool carries(int peer) const { return call_.counts() && peer != MPI_PROC_NULL && peer != rank_; }
  int world_rank(int peer) const;  // -1: MPI_ANY_SOURCE

  BypassingCall call_;
  MPI_Comm comm_;
  int rank_ = 0, size_ = 0;
};

}  // namespace ringcheck
