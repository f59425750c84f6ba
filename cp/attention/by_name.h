// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cp/attention/context_parallel.h"

namespace ringcheck {

// The parts of context-parallel attention by the names that the text of a case has for them.
struct Names {
  std::string strategy = "ring:p2p";  // with its arguments
  std::string balancer = "headtail";
  int64_t block = 1;                  // of a balancer that takes one
  std::string kernel = "plain";
};

// What ContextParallel is put together from; plan.layout says which positions each rank holds. Throws
// std::invalid_argument or std::out_of_range, with the names that there are.
ContextParallel::Options by_name(const Names& names, const Scores& scores, int world);

}  // namespace ringcheck
