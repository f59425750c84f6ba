// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {

// A forward pass leaves O and LSE, and q where it had to change it: rotated, or with pads cleared.
// A backward pass holds these, D = rowsum(dO * O) of all queries, where it is made once, and dO where it had to clear pads, and leaves dQ,
// dK and dV. In the accumulation type dV keeps the one block alive in which both came, also where dK
// was rotated back.
void add_frame(const Case& test, int rank, ExpectedCounters& expected) {
  const auto e = static_cast<int64_t>(c10::elementSize(test.dtype));
  const int64_t wide = wide_bytes(test);
  const int64_t rows = test.batch * test.q_heads * slots_of_rank(test);
  const int64_t keys = test.batch * test.kv_heads * slots_of_rank(test);
  const bool pads = pads_of_rank(test, rank) > 0;
  const bool rotates = test.rope.pairing != Rope::Pairing::kNone;
  const int64_t q = rotates || pads ? rows * test.dim * e : 0;
  const int64_t saved = q + rows * test.dim_v * e + rows * wide;
  const int64_t beside = saved + (expected.one_d ? d_bytes(test, rows) : 0) + (pads ? rows * test.dim_v * e : 0);
  Stock &forward = expected.forward_stock, &backward = expected.backward_stock;
  for (ExpectedStep& step : expected.steps) {
    for (const auto& [held, more] : {std::pair(&step.forward, q), {&step.backward, beside}}) {
      held->attending += more;
      held->combining += more;
      held->preparing += more;
    }
    forward.attending = std::max(forward.attending, step.forward.attending);
    backward.attending = std::max(backward.attending, step.backward.attending);
  }
  forward.after += saved;
  backward.after += saved + rows * test.dim * e + kv_block_bytes(test) +
                    (rotates && e == wide && expected.result.one_gradient_block ? keys * test.dim * e
                                                                                : 0);
}

}  // namespace ringcheck::parity
