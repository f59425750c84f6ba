// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A library that knows nothing of RingCheck and calls MPI, as a subject under test may. It is
// loaded at run time, so its calls are bound as a plug-in's are.
#include <mpi.h>

#include <vector>

extern "C" {

void foreign_exchange(const void* send, int to, void* receive, int from, int bytes) {
  MPI_Sendrecv(send, bytes, MPI_BYTE, to, 7, receive, bytes, MPI_BYTE, from, 7, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

// Each of these once, of `n` bytes a rank: all-gather, all-to-all, all-reduce; broadcast, reduce,
// gather and scatter with root 0; a message to the right neighbour.
void foreign_collectives(int n) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<char> one(n), all(static_cast<size_t>(n) * size), other(all);
  MPI_Allgather(one.data(), n, MPI_BYTE, all.data(), n, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Alltoall(all.data(), n, MPI_BYTE, other.data(), n, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, one.data(), n, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  MPI_Bcast(one.data(), n, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Reduce(one.data(), other.data(), n, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
  MPI_Gather(one.data(), n, MPI_BYTE, all.data(), n, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Scatter(all.data(), n, MPI_BYTE, one.data(), n, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Request requests[2];
  MPI_Irecv(other.data(), n, MPI_BYTE, (rank + size - 1) % size, 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(one.data(), n, MPI_BYTE, (rank + 1) % size, 8, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

}  // extern "C"
