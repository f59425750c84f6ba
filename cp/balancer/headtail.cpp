// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/balancer.h"

namespace ringcheck {
namespace {

// Cut the sequence into 2P chunks and give rank r the r-th from either end, so that under a
// causal mask every rank attends to the same number of pairs (Llama 3, section 3.3.2).
Positions headtail(const Sequence& sequence, int world, int rank) {
  const int64_t chunk = padded_length(sequence.mask.length, 2 * world) / (2 * world);
  return {{rank * chunk, chunk}, {(2 * world - 1 - rank) * chunk, chunk}};
}

const Balancers::Add registered{
    "headtail", {headtail, [](int64_t, int world) -> int64_t { return 2 * world; }}};

}  // namespace
}  // namespace ringcheck
