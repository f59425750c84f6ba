// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {

// Blocks are passed to the next rank P - 1 times (Ring Attention, Liu et al. 2023, section 3), and
// the sum of their gradients one hop further, home. Held are the block that leaves, of the own one a copy, and the
// one that comes in; of gradients the sum that leaves and the one that comes in. A block comes while
// the one before it is attended; in the last step backward gradients do.
inline ExpectedRotation passed_round() {
  const auto only = [](int world, int peer) {
    std::vector<double> shares(world, 0.0);
    if (world > 1) shares[peer % world] = 1;
    return shares;
  };
  return {[](int world) { return ExpectedRotation::Moves{world - 1, 0, world - 1}; },
          [](int world, bool) {
            const int hops = world > 1 ? world : 0;
            return ExpectedRotation::Moves{world - 1, hops, hops};
          },
          [](int) -> int64_t { return 2; }, [](int) -> int64_t { return 2; },
          [](int world, int terms) -> int64_t { return world > 1 ? std::min(terms * 2, 2) : 0; },
          [=](int world, int rank) { return only(world, rank + 1); },
          [=](int world, int rank) { return only(world, rank + world - 1); }};
}

}  // namespace ringcheck::parity
