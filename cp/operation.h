// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ringcheck {

// What a rank is doing: an operation has a name, a step of the rotation and, where it
// communicates, a peer (world rank).
struct Operation {
  const char* name = "start";
  int step = -1;
  int peer = -1;
};

// "exchange kv, step 2, peer 1"
std::string describe(const Operation& operation);

}  // namespace ringcheck
