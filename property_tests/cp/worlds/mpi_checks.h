// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cp/worlds/communicator.h"
#include "cp/worlds/mpi_world.h"

namespace ringcheck {

// A test under mpirun: all ranks run it, each says what was wrong, "" where nothing was.
struct MpiCheck {
  std::string name;
  std::function<std::string(Communicator& world, MpiSession&)> run;
};

// The main of such a program: every check is a test whose verdict all ranks agree on before any of
// them asserts it. Returns 0 only where every rank passed and something ran.
int run_mpi_checks(int argc, char** argv, const char* suite, const std::vector<MpiCheck>& checks);

// The same check in the whole world and in groups of every size, offset, strided and reversed.
using GroupCheck = std::function<std::string(Communicator& group)>;
std::string in_all_groups(Communicator& world, const GroupCheck& check);

}  // namespace ringcheck
