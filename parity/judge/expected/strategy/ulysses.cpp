// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// DeepSpeed-Ulysses (Jacobs et al. 2023, section 3.1): before attention an all-to-all gives each of P
// ranks one in P heads of q, k and v over all positions, after it another one gives O back; backward
// the same with dO before, and dq, dk and dv after. With LSE after, and D before. No head is
// anybody else's, so all of it is complete, and travels in the dtype; LSE and D in the accumulation
// type.
//
// Bytes of a rank, all heads of its slots: what of them goes in an all-to-all is (P - 1) / P.
struct Shards {
  explicit Shards(const Case& test)
      : test(test), e(static_cast<int64_t>(c10::elementSize(test.dtype))), wide(wide_bytes(test)),
        world(test.world), slots(slots_of_rank(test)),
        rows(test.batch * test.q_heads * slots), keys(test.batch * test.kv_heads * slots) {}

  const Case& test;
  int64_t e, wide, world, slots, rows, keys;
  int64_t in() const { return rows * test.dim * e + kv_block_bytes(test); }  // also dq, dk and dv
  int64_t out() const { return rows * (test.dim_v * e + wide); }             // also dO and D
  int64_t travels(int64_t bytes) const { return bytes / world * (world - 1); }
  // The same of one in P heads, of all positions. One rank has its slots as they are.
  int64_t in_order(int64_t bytes) const {
    return world == 1 ? bytes : bytes / (slots * world) * test.seq;
  }
};

constexpr int64_t kTensorsIn = 3, kTensorsOut = 2;  // forward; backward the other way round

// Forward: each head sees what the whole sequence sees; S = QK' and PV. Backward S again,
// dP = dO V', dV = P' dO, dQ = dS K and dK = dS' Q.
ExpectedPass pass(const Case& test, int64_t bytes_that_travel, int64_t flops_a_pair) {
  const int64_t others = test.world - 1, pairs = pairs_of(test) / test.world;
  return {bytes_that_travel, (kTensorsIn + kTensorsOut) * others * test.batch, pairs,
          pairs * flops_a_pair, 1, 0};
}

// While O is rounded.
int64_t computing(const Shards& n) {
  const int64_t rounded = n.e < n.wide ? n.rows * n.test.dim_v * n.e : 0;
  return n.in_order(n.rows * (n.test.dim_v + 1) * n.wide + rounded);
}

// While dq, then dk, then dv become those of the inputs, each in place of what the kernel returned.
int64_t finishing_all(const Shards& n) {
  const int64_t vectors = n.in_order(n.rows), of_keys = n.in_order(n.keys);
  const int64_t positions = n.world == 1 ? n.slots : n.test.seq;
  const int64_t wide_q = vectors * n.test.dim * n.wide, q = vectors * n.test.dim * n.e;
  const int64_t wide_k = of_keys * n.test.dim * n.wide, k = of_keys * n.test.dim * n.e;
  const int64_t wide_v = of_keys * n.test.dim_v * n.wide;
  const int64_t v = n.e < n.wide ? of_keys * n.test.dim_v * n.e : 0;
  return std::max({wide_q + wide_k + wide_v + finishing(n.test, vectors, positions).takes,
                   q + wide_k + wide_v + finishing(n.test, of_keys, positions).takes,
                   q + k + wide_v + v});
}

// One rank has everything: nothing is exchanged, and nothing kept.
ExpectedStep alone(const Shards& n) {
  const int64_t kv = kv_block_bytes(n.test);
  return {{0, 0}, {kv, kv + computing(n)}, {kv, kv + finishing_all(n)}};
}

// The own K and V; and of the heads of the rank, over the sequence, q, k and v, forward before
// attention what arrived of them, and O and LSE after; backward dO and D, and after attention dq, dk
// and dv. What leaves, and where what comes lands, is there beside them.
ExpectedStep exchanged(const Shards& n) {
  const int64_t before = kv_block_bytes(n.test) + n.in_order(n.in());
  const int64_t kept = before + n.in_order(n.out()), attending = kept + n.in_order(n.out());
  const int64_t gradients = n.in_order(query_gradient_bytes(n.test) + gradient_block_bytes(n.test));
  const auto moving = [&](int64_t shard) { return n.in_order(shard) + n.travels(shard) + shard; };
  return {{ExpectedBlock::kSequence, ExpectedBlock::kSequence, n.world},
          {before, before + std::max(computing(n), moving(n.out())), before + n.travels(n.in())},
          {attending,
           std::max({attending + gradients, kept + finishing_all(n), kept + moving(n.in())}),
           attending + n.travels(n.out())}};
}

ExpectedCounters counters(const Case& test, int rank) {
  const Shards n(test);
  const int64_t kv = kv_block_bytes(test), moved = n.travels(n.in() + n.out());
  ExpectedCounters expected;
  expected.steps = {n.world == 1 ? alone(n) : exchanged(n)};
  expected.result = {.rounded_o = true, .finished_gradients = true};
  expected.forward = pass(test, moved, 2 * (test.dim + test.dim_v));
  expected.backward = pass(test, moved, 6 * test.dim + 4 * test.dim_v);
  expected.kv_bytes = expected.forward_stock.after = kv;
  if (n.world > 1) {
    expected.kv_bytes += n.travels(kv) + n.in_order(kv);
    expected.traveller_bytes = kv + n.travels(kv);
    expected.forward_stock.after += n.in_order(n.in()) + n.in_order(n.out());
  }
  expected.backward_stock.after = expected.forward_stock.after;
  expected.sent_to.assign(test.world, 2 * moved / std::max(1, test.world - 1));
  expected.sent_to[rank] = 0;
  expected.received_from = expected.sent_to;
  return expected;
}

const ExpectedStrategies::Add registered{"ulysses", {counters}};

}  // namespace
}  // namespace ringcheck::parity
