// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/expected.h"

#include "cp/attention/attention_kernel.h"

namespace ringcheck::parity {

std::vector<ExpectedCounters> expected_counters(const Case& test) {
  const auto found = ExpectedStrategies::all().find(test.strategy);
  if (found == ExpectedStrategies::all().end())
    throw BadCase("strategy " + test.strategy +
                  " has no closed form; add parity/judge/expected/strategy/" + test.strategy + ".cpp");
  const std::optional<TileSize> tile = AttentionKernels::at(test.kernel)->tile_size();
  std::vector<ExpectedCounters> ranks;
  for (int rank = 0; rank < test.world; ++rank) {
    ExpectedCounters expected = found->second.counters(test, rank);
    add_frame(test, rank, expected);
    add_peaks(test, rank, expected);
    if (tile) expected.most_computed = pairs_in_tiles(test, expected.steps, *tile);
    ranks.push_back(std::move(expected));
  }
  return ranks;
}

}  // namespace ringcheck::parity
