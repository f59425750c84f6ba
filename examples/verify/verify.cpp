// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A program with ranks of its own has its attention judged on them:
//
//     mpirun -n 2 ./verify --case 'subject:plugin[program]/causal/P2/s64/float32'
#include <mpi.h>
#include <ringcheck.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = ringcheck_verify(argc - 1, argv + 1, ringcheck_plugin());
  MPI_Finalize();
  return code;
}
