// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>

#include "cp/worlds/communicator.h"

namespace ringcheck {

// Throws std::runtime_error with MPI's own text.
void check_mpi(int status);

// Where messages of one group match: a communicator of MPI and a tag in it.
struct Channel {
  MPI_Comm comm = MPI_COMM_NULL;
  int tag = 0;
};

// What the session made once. Worlds and the groups within them have a communicator each, so that
// tags need to tell only worlds, or only groups, apart.
struct Contexts {
  MPI_Comm worlds = MPI_COMM_NULL, groups = MPI_COMM_NULL;
  int most_tags = 0;  // tags are below
};

std::unique_ptr<Communicator> mpi_communicator(std::shared_ptr<const Contexts> contexts,
                                               Channel channel, Group group,
                                               std::shared_ptr<Ledger> ledger,
                                               std::chrono::milliseconds deadline);

}  // namespace ringcheck
