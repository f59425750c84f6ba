// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/balancer.h"

namespace ringcheck {
namespace {

// Rank r holds the r-th of P equal pieces.
Positions contiguous(const Sequence& sequence, int world, int rank) {
  const int64_t piece = padded_length(sequence.mask.length, world) / world;
  return {{rank * piece, piece}};
}

const Balancers::Add registered{
    "contiguous", {contiguous, [](int64_t, int world) -> int64_t { return world; }}};

}  // namespace
}  // namespace ringcheck
