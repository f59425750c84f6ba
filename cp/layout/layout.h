// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cp/layout/positions.h"

namespace ringcheck {

// The positions of every rank of a world, by rank, as queries and as keys: the same in self
// attention. All shards have the same number of slots.
struct Layout {
  std::vector<Positions> queries, keys;

  static Layout of_both(const std::vector<Positions>& shards) { return {shards, shards}; }
  int world() const { return static_cast<int>(queries.size()); }
};

}  // namespace ringcheck
