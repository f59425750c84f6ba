// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "parity/case/text.h"
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

ExpectedPass pass(const Case& test, int rank, const ExpectedRotation::Moves& moves,
                  int64_t messages_a_block, int64_t flops_a_pair) {
  const int64_t pairs = pairs_of(test, rank);
  return {moves.kv * kv_block_bytes(test) + moves.gradients * gradient_block_bytes(test),
          (moves.kv + moves.gradients) * messages_a_block, pairs, pairs * flops_a_pair, test.world, 0,
          moves.overlapped};
}

std::vector<int64_t> shared_out(int64_t bytes, const std::vector<double>& shares) {
  std::vector<int64_t> parts;
  for (const double share : shares)
    parts.push_back(std::llround(static_cast<double>(bytes) * share));
  return parts;
}

// While it attends it holds, from the second step on, a partial result and a sum of dQ. Then the
// partial result of the block is merged, its dQ added, and its dK and dV are put where they travel.
ExpectedStep step_of(const Case& test, const ExpectedBlock& block, int step,
                     const ExpectedRotation& moves, bool keep) {
  const int64_t own = own_kv_bytes(test, block.queries), one = kv_block_bytes(test);
  const int64_t kv = own + moves.kv_held(test.world) * one;
  const int64_t preparing = own + moves.kv_prepared(test.world) * one;
  const int64_t partial = partial_bytes(test), gradient = gradient_block_bytes(test);
  const int64_t term = query_gradient_bytes(test), sum = step > 0 ? term : 0;
  const int64_t before = moves.gradients_held(test.world, step) * gradient;
  const int64_t after = moves.gradients_held(test.world, step + 1) * gradient;
  const int64_t attending = kv + sum + before;
  return {block,
          step == 0 ? ExpectedStep::Held{kv, kv + partial, preparing}
                    : ExpectedStep::Held{kv + partial, kv + 2 * partial + merge_bytes(test)},
          {attending, attending + term + gradient + std::max(sum, after - before), keep ? kv : preparing}};
}

// Blocks of K and V, and of their gradients, that which came home last.
void hold(const Case& test, int rank, const ExpectedRotation& moves, bool keep, ExpectedCounters& expected) {
  for (int step = 0; step < test.world; ++step)
    expected.steps.push_back(step_of(test, {rank, (rank + test.world - step) % test.world}, step, moves, keep));
  const int64_t own = own_kv_bytes(test, rank), one = kv_block_bytes(test);
  expected.kv_bytes = moves.kv_prepared(test.world) * one;
  expected.traveller_bytes = moves.gradients_held(test.world, test.world) * gradient_block_bytes(test);
  expected.result.rounded_o = expected.result.one_gradient_block = expected.one_d = true;
  expected.forward_stock.after = expected.backward_stock.after = own + (keep ? moves.kv_held(test.world) * one : 0);
}

// Ring attention (Liu, Zaharia and Abbeel 2023): a step for every owner, from the second on merged forward; S = QK'
// and PV forward; S again, dP = dO V', dV = P' dO, dQ = dS K and dK = dS' Q backward.
ExpectedCounters counters(const Case& test, int rank) {
  const Call rotation = parse_call(test.arguments.substr(1));
  const auto found = ExpectedRotations::all().find(rotation.name);
  if (found == ExpectedRotations::all().end())
    throw BadCase("rotation " + rotation.name +
                  " has no closed form; add parity/judge/expected/rotation/" + rotation.name + ".cpp");
  const ExpectedRotation& moves = found->second;
  const bool keep = !rotation.arguments.empty();
  ExpectedCounters expected;
  expected.heads = {0, test.kv_heads};
  expected.forward = pass(test, rank, moves.forward(test.world), moves.messages_a_block,
                          2 * (test.dim + test.dim_v));
  expected.forward.merges = test.world - 1;
  expected.backward = pass(test, rank, moves.backward(test.world, keep), moves.messages_a_block,
                           6 * test.dim + 4 * test.dim_v);
  if (test.world == 1) alone(test, expected);
  else hold(test, rank, moves, keep, expected);
  const int64_t total = expected.forward.bytes + expected.backward.bytes;
  expected.sent_to = shared_out(total, moves.to(test.world, rank));
  expected.received_from = shared_out(total, moves.from(test.world, rank));
  return expected;
}

const ExpectedStrategies::Add registered{"ring", {counters}};

}  // namespace
}  // namespace ringcheck::parity
