// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A library that knows nothing of RingCheck and calls MPI, as a subject under test may. It is
// loaded at run time, so its calls are bound as a plug-in's are.
#include <mpi.h>

#include <utility>
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

// Each of these once, of uneven parts, and once more with a request: all-gather, where rank r gives n (r + 1) bytes;
// reduce-scatter, where it keeps as many; all-to-all, where rank r sends rank p n (1 + r + 2 p), all of bytes, and of types.
void foreign_uneven_collectives(int n) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> parts(size), places(size), sent(size), sent_at(size), received(size), received_at(size);
  int whole = 0, out = 0, in = 0;
  for (int p = 0; p < size; ++p) {
    parts[p] = n * (p + 1);
    sent[p] = n * (1 + rank + 2 * p);
    received[p] = n * (1 + p + 2 * rank);
    places[p] = std::exchange(whole, whole + parts[p]);
    sent_at[p] = std::exchange(out, out + sent[p]);
    received_at[p] = std::exchange(in, in + received[p]);
  }
  std::vector<char> own(parts[rank]), all(whole), leaving(out), coming(in);
  const std::vector<MPI_Datatype> types(size, MPI_BYTE);
  MPI_Request request;
  const auto done = [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); };
  MPI_Allgatherv(own.data(), parts[rank], MPI_BYTE, all.data(), parts.data(), places.data(), MPI_BYTE, MPI_COMM_WORLD);
  MPI_Iallgatherv(own.data(), parts[rank], MPI_BYTE, all.data(), parts.data(), places.data(), MPI_BYTE, MPI_COMM_WORLD,
                  &request);
  done();
  MPI_Reduce_scatter(all.data(), own.data(), parts.data(), MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
  MPI_Ireduce_scatter(all.data(), own.data(), parts.data(), MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, &request);
  done();
  MPI_Alltoallv(leaving.data(), sent.data(), sent_at.data(), MPI_BYTE, coming.data(), received.data(), received_at.data(),
                MPI_BYTE, MPI_COMM_WORLD);
  MPI_Ialltoallv(leaving.data(), sent.data(), sent_at.data(), MPI_BYTE, coming.data(), received.data(), received_at.data(),
                 MPI_BYTE, MPI_COMM_WORLD, &request);
  done();
  MPI_Alltoallw(leaving.data(), sent.data(), sent_at.data(), types.data(), coming.data(), received.data(),
                received_at.data(), types.data(), MPI_COMM_WORLD);
  MPI_Ialltoallw(leaving.data(), sent.data(), sent_at.data(), types.data(), coming.data(), received.data(),
                 received_at.data(), types.data(), MPI_COMM_WORLD, &request);
  done();
}

}  // extern "C"
