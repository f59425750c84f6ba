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

std::vector<BlockShape> calls_of(const BlockShape& block, const Lengths& lengths) {
  if (lengths.empty()) return {block};
  std::vector<BlockShape> calls;
  for (const SameLength& some : by_length(block.visibility.mask(), lengths, block.batch)) {
    calls.push_back(block);
    calls.back().batch = some.count;
    calls.back().visibility = {some.mask, block.visibility.queries(), block.visibility.keys()};
  }
  return calls;
}

std::optional<std::string> refuses(const StrategyEntry& strategy, const Plan& plan,
                                   const BlockShape& shape) {
  if (auto reason = refuses(plan.scores.mask, plan.lengths, shape.batch)) return reason;
  if (auto reason = strategy.refuses(plan, shape)) return reason;
  for (const BlockShape& block : strategy.blocks(plan, shape))
    for (const BlockShape& called : calls_of(block, plan.lengths))
      if (auto reason = plan.kernel->refuses(called)) return reason;
  return std::nullopt;
}

}  // namespace ringcheck
