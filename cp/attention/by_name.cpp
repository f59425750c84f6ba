// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/by_name.h"

#include <algorithm>

#include "cp/layout/balancer.h"

namespace ringcheck {

ContextParallel::Options by_name(const Names& names, const Scores& scores, int world) {
  const size_t end = std::min(names.strategy.find_first_of(":["), names.strategy.size());
  const StrategyEntry& strategy = Strategies::at(names.strategy.substr(0, end));
  const Layout layout =
      layout_of(Balancers::at(names.balancer), {scores.mask, names.block}, world);
  return {.strategy = strategy,
          .plan = {.layout = layout,
                   .scores = scores,
                   .kernel = AttentionKernels::at(names.kernel),
                   .arguments = strategy.canonical(names.strategy.substr(end))},
          .rope = {}};
}

}  // namespace ringcheck
