// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/expected.h"

#include <algorithm>

#include "cp/attention/attention_kernel.h"

namespace ringcheck::parity {
namespace {

int64_t element_bytes(at::ScalarType type) { return static_cast<int64_t>(c10::elementSize(type)); }

// Inputs, outputs and their copies in the other frame, partial results and what the kernel says
// it needs.
int64_t peak_bound(const Case& test, const ExpectedCounters& expected) {
  const int64_t e = element_bytes(test.dtype);
  const int64_t wide = element_bytes(accumulation_type(test.dtype));
  const int64_t rows = test.batch * test.q_heads * slots_of_rank(test);
  const int64_t keys = test.batch * test.kv_heads * slots_of_rank(test);
  const int64_t inputs = rows * (test.dim + test.dim_v) + keys * (test.dim + test.dim_v);
  const int64_t partials = rows * (5 * test.dim_v + 3 * test.dim + 16) +
                           keys * 3 * (test.dim + test.dim_v);
  const Plan plan = plan_of(test);
  int64_t workspace = 0;
  for (const Positions& queries : plan.layout.queries)
    workspace = std::max(workspace, plan.kernel->workspace_bytes(
        {test.dtype, device_type_of(test), test.batch, test.q_heads, test.kv_heads, test.dim, test.dim_v,
         {plan.scores.mask, queries, plan.layout.keys[0]}}));
  // Index tensors and other odds and ends; on GPUs what cuBLAS holds, and whole allocator blocks.
  const int64_t fixed = test.device == "cpu" ? int64_t{1} << 16 : int64_t{160} << 20;
  const int64_t angles = slots_of_rank(test) * (test.dim + 16) * 2 * wide;
  return 4 * inputs * e + partials * wide + expected.kv_bytes + expected.traveller_bytes +
         workspace + angles + fixed;
}

}  // namespace

ExpectedCounters expected_counters(const Case& test, int rank) {
  const auto found = ExpectedStrategies::all().find(test.strategy);
  if (found == ExpectedStrategies::all().end())
    throw BadCase("strategy " + test.strategy +
                  " has no closed form; add parity/judge/expected/strategy/" + test.strategy + ".cpp");
  ExpectedCounters expected = found->second.counters(test, rank);
  expected.peak_bytes = peak_bound(test, expected);
  return expected;
}

}  // namespace ringcheck::parity
