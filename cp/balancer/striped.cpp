// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/balancer.h"

namespace ringcheck {
namespace {

// Deal the sequence like cards, `block` tokens at a time (Brandon et al., Striped Attention,
// section 3): rank r holds blocks r, r + P, r + 2P, ...
Positions striped(const Sequence& sequence, int world, int rank) {
  const int64_t block = sequence.block;
  const int64_t rounds = padded_length(sequence.mask.length, world * block) / (world * block);
  if (block == 1) return {{rank, rounds, world}};
  std::vector<Span> spans;
  for (int64_t round = 0; round < rounds; ++round)
    spans.push_back({(round * world + rank) * block, block});
  return spans;
}

const Balancers::Add registered{
    "striped",
    {striped, [](int64_t block, int world) -> int64_t { return block * world; }, true}};

}  // namespace
}  // namespace ringcheck
