// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cp/worlds/communicator.h"
#include "cp/worlds/session.h"

namespace ringcheck {

// A test of processes that are ranks: all run it, each says what was wrong, "" where nothing was.
struct RankCheck {
  std::string name;
  std::function<std::string(Communicator& world, Session&)> run;
};

// The main of such a program, once it has joined its session: every check is a test whose verdict all ranks agree on before any of
// them asserts it. Returns 0 only where every rank passed and something ran.
int run_rank_checks(Session& session, int argc, char** argv, const char* suite,
                    const std::vector<RankCheck>& checks);

// The same check in the whole world and in groups of every size, offset, strided and reversed.
using GroupCheck = std::function<std::string(Communicator& group)>;
std::string in_all_groups(Communicator& world, const GroupCheck& check);

// What every communicator of processes must do, in all groups (communicator_checks.h).
std::vector<RankCheck> checks_of_communicators();

}  // namespace ringcheck
