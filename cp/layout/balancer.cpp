// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/balancer.h"

namespace ringcheck {

int64_t padded_length(int64_t length, int64_t granule) {
  return (length + granule - 1) / granule * granule;
}

Layout layout_of(const BalancerEntry& balancer, const Sequence& sequence, int world) {
  std::vector<Positions> shards;
  for (int rank = 0; rank < world; ++rank)
    shards.push_back(balancer.positions(sequence, world, rank));
  return Layout::of_both(shards);
}

}  // namespace ringcheck
