// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/expected.h"

#include <algorithm>

#include "cp/attention/attention_kernel.h"

namespace ringcheck::parity {
namespace {

int64_t element_bytes(at::ScalarType type) { return static_cast<int64_t>(c10::elementSize(type)); }

// The most that the kernel says it needs, of all pairs of a rank's queries and a rank's keys.
int64_t workspace_of(const Case& test) {
  const Plan plan = plan_of(test);
  int64_t workspace = 0;
  for (const Positions& queries : plan.layout.queries)
    for (const Positions& keys : plan.layout.keys)
      workspace = std::max(workspace, plan.kernel->workspace_bytes(
          {test.dtype, device_type_of(test), test.batch, test.q_heads, test.kv_heads, test.dim,
           test.dim_v, {plan.scores.mask, queries, keys}}));
  return workspace;
}

// The bound of a rank's peak, but for the K, V and gradients in transit: inputs, outputs and their
// copies in the other frame, partial results, workspace.
int64_t peak_beside_blocks(const Case& test) {
  const int64_t e = element_bytes(test.dtype);
  const int64_t wide = element_bytes(accumulation_type(test.dtype));
  const int64_t rows = test.batch * test.q_heads * slots_of_rank(test);
  const int64_t keys = test.batch * test.kv_heads * slots_of_rank(test);
  const int64_t inputs = rows * (test.dim + test.dim_v) + keys * (test.dim + test.dim_v);
  const int64_t partials = rows * (5 * test.dim_v + 3 * test.dim + 16) +
                           keys * 3 * (test.dim + test.dim_v);
  // Index tensors and other odds and ends; on GPUs what cuBLAS holds, and whole allocator blocks.
  const int64_t fixed = test.device == "cpu" ? int64_t{1} << 16 : int64_t{160} << 20;
  const int64_t angles = slots_of_rank(test) * (test.dim + 16) * 2 * int64_t{sizeof(double)};
  return 4 * inputs * e + partials * wide + workspace_of(test) + angles + fixed;
}

}  // namespace

std::vector<ExpectedCounters> expected_counters(const Case& test) {
  const auto found = ExpectedStrategies::all().find(test.strategy);
  if (found == ExpectedStrategies::all().end())
    throw BadCase("strategy " + test.strategy +
                  " has no closed form; add parity/judge/expected/strategy/" + test.strategy + ".cpp");
  const int64_t beside_blocks = peak_beside_blocks(test);
  const std::optional<TileSize> tile = AttentionKernels::at(test.kernel)->tile_size();
  std::vector<ExpectedCounters> ranks;
  for (int rank = 0; rank < test.world; ++rank) {
    ExpectedCounters expected = found->second.counters(test, rank);
    expected.peak_bytes = beside_blocks + expected.kv_bytes + expected.traveller_bytes;
    add_frame(test, rank, expected);
    if (tile) expected.most_computed = pairs_in_tiles(test, rank, *tile);
    ranks.push_back(std::move(expected));
  }
  return ranks;
}

}  // namespace ringcheck::parity
