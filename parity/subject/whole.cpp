// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/whole.h"

#include <ATen/ATen.h>

#include <cmath>

#include "cp/layout/shard.h"

namespace ringcheck::parity {
namespace {

// The slots of a rank; those behind the end are empty.
RankOutput cut(const RankOutput& whole, const Positions& positions, int64_t length) {
  const auto piece = [&](const at::Tensor& x) {
    return x.defined() ? shard(x.narrow(2, 0, length), 2, positions) : x;
  };
  RankOutput own{piece(whole.o),  piece(whole.lse), piece(whole.dq), piece(whole.dk),
                 piece(whole.dv), piece(whole.q_rotated), piece(whole.k_rotated), {}};
  int64_t slot = 0;
  for (const int64_t position : flatten(positions)) {
    if (position >= length && own.lse.defined()) own.lse.select(2, slot).fill_(-INFINITY);
    ++slot;
  }
  return own;
}

}  // namespace

Problem gathered(const Case& test, const std::vector<RankInput>& inputs) {
  const std::vector<Positions> layout = layout_of(test).queries;
  const auto whole = [&](at::Tensor Problem::*tensor) {
    std::vector<at::Tensor> shards;
    for (const RankInput& input : inputs) shards.push_back(input.local.*tensor);
    return unshard(shards, 2, layout, test.seq);
  };
  return {whole(&Problem::q), whole(&Problem::k), whole(&Problem::v), whole(&Problem::d_o)};
}

std::vector<RankOutput> scattered(const Case& test, const RankOutput& whole) {
  std::vector<RankOutput> ranks;
  for (const Positions& positions : layout_of(test).queries)
    ranks.push_back(cut(whole, positions, test.seq));
  return ranks;
}

}  // namespace ringcheck::parity
