// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/strategy.h"

namespace ringcheck {

std::vector<BlockShape> pairs_of_shards(const Plan& plan, const BlockShape& shape) {
  std::vector<BlockShape> blocks;
  for (const Positions& queries : plan.layout.queries)
    for (const Positions& keys : plan.layout.keys) {
      blocks.push_back(shape);
      blocks.back().visibility = {plan.scores.mask, queries, keys};
    }
  return blocks;
}

std::optional<std::string> refuses(const StrategyEntry& strategy, const Plan& plan,
                                   const BlockShape& shape) {
  if (auto reason = strategy.refuses(plan, shape)) return reason;
  for (const BlockShape& block : strategy.blocks(plan, shape))
    if (auto reason = plan.kernel->refuses(block)) return reason;
  return std::nullopt;
}

}  // namespace ringcheck
