// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// Forward every rank sends its K and V to every other one, and sees a block of each of the P; P
// partial results take P - 1 merges. Backward nothing comes again, and every rank sends each other
// one the gradients of its block. Held are P gathered blocks, and until they are a copy of the own
// one; the terms for P owners, and those that come from the others. What was gathered stays.
ExpectedCounters counters(const Case& test, int rank) {
  const int64_t others = test.world - 1, pairs = pairs_of(test, rank);
  const int64_t kv = kv_block_bytes(test), gradient = gradient_block_bytes(test);
  ExpectedCounters expected;
  expected.forward = {others * kv, others, pairs, pairs * 2 * (test.dim + test.dim_v), test.world,
                      others};
  expected.backward = {others * gradient, others, pairs, pairs * (6 * test.dim + 4 * test.dim_v),
                       test.world, 0};
  expected.sent_to.assign(test.world, kv + gradient);
  expected.sent_to[rank] = 0;
  expected.received_from = expected.sent_to;
  if (test.world == 1) {
    alone(test, expected);
    return expected;
  }
  expected.kv_bytes = (test.world + 1) * kv;
  expected.traveller_bytes = (2 * test.world - 1) * gradient;
  const int64_t held = own_kv_bytes(test, rank) + test.world * kv;
  // While it attends: the partial result of the steps before and, backward, their dQ and terms. Then a
  // partial result is merged, dQ added and a term made, and after the last one the terms go home.
  const int64_t partial = partial_bytes(test), dq = query_gradient_bytes(test);
  for (int owner = 0; owner < test.world; ++owner) {
    const int64_t before = owner > 0 ? partial : 0, sum = owner > 0 ? dq : 0;
    const int64_t attending = held + sum + owner * gradient;
    const int64_t leaving = owner == others ? others * gradient : 0;
    expected.steps.push_back(
        {{rank, owner},
         {held + before, held + before + partial + merge_bytes(test), held + kv},
         {attending, attending + dq + gradient + std::max(sum, gradient + leaving)}});
  }
  expected.forward_stock.after = expected.backward_stock.after = held;
  expected.result.one_gradient_block = true;
  return expected;
}

const ExpectedStrategies::Add registered{"gather", {counters}};

}  // namespace
}  // namespace ringcheck::parity
