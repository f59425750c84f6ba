// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/balancer.h"

namespace ringcheck {
namespace {

// P equal pieces, the last one on rank 0.
Positions reversed(const Sequence& sequence, int world, int rank) {
  const int64_t piece = padded_length(sequence.mask.length, world) / world;
  return {{(world - 1 - rank) * piece, piece}};
}

const Balancers::Add registered{
    "reversed", {reversed, [](int64_t, int world) -> int64_t { return world; }}};

}  // namespace
}  // namespace ringcheck
