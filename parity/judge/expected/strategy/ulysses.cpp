// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// DeepSpeed-Ulysses (Jacobs et al. 2023, section 3.1): before attention an all-to-all gives each of P
// ranks one in P heads of q, k and v over all positions, after it another one gives O back; backward
// the same with dO before, and dq, dk and dv after. With O goes LSE. No head is
// anybody else's, so all of it is complete, and travels in the dtype; LSE in the accumulation
// type.
//
// What travels comes from its place in the sequence, and goes there, where every shard is a stretch of it, or two of
// one size, and has no pads. Else it lies in a buffer meanwhile; and always with NCCL, which packs it: as a case does not
// say over what its processes go, that is the limit of all of them on GPUs.
//
// "[N]": the heads of a rank go in N groups; while one is attended the next is under way, and what
// came of the one before. "" is one.
int64_t groups_of(const Case& test) {
  return test.arguments.empty() || test.world == 1 ? 1 : std::stoll(test.arguments.substr(1));
}

bool straight(const Case& test) {
  if (slots_of_rank(test) * test.world != test.seq) return false;
  for (const std::vector<int64_t>& slots : slots_of_ranks(test)) {
    std::vector<int64_t> begins;
    for (size_t slot = 0; slot < slots.size(); ++slot)
      if (slot == 0 || slots[slot] != slots[slot - 1] + 1) begins.push_back(static_cast<int64_t>(slot));
    if (begins.size() > 2 || (begins.size() == 2 && 2 * begins[1] != std::ssize(slots))) return false;
  }
  return true;
}

// Bytes of a rank: of the slots that it has, those heads that one group of every rank attends. What of
// them goes in an all-to-all is (P - 1) / P.
struct Group {
  Group(const Case& test, int rank)
      : test(test), own(own_kv_bytes(test, rank)), e(static_cast<int64_t>(c10::elementSize(test.dtype))),
        wide(wide_bytes(test)),
        world(test.world), groups(groups_of(test)), slots(slots_of_rank(test)), buffered(!straight(test)),
        packed(test.world_kind == "mpi" && test.device == "cuda"),
        rows(test.batch * test.q_heads * slots / groups), keys(test.batch * test.kv_heads * slots / groups) {}

  const Case& test;
  int64_t own, e, wide, world, groups, slots;
  bool buffered, packed;
  int64_t rows, keys;
  int64_t kv() const { return keys * (test.dim + test.dim_v) * e; }
  int64_t in() const { return rows * test.dim * e + kv(); }       // also dq, dk and dv
  int64_t out() const { return rows * (test.dim_v * e + wide); }
  int64_t d_o() const { return rows * test.dim_v * e; }
  int64_t travels(int64_t bytes) const { return bytes / world * (world - 1); }
  int64_t buffer(int64_t bytes) const { return buffered ? travels(bytes) : 0; }  // for what travels
  int64_t around(int64_t bytes) const { return packed ? travels(bytes) : buffer(bytes); }  // or less
  // The same of one in P heads, of all positions. One rank has its slots as they are.
  int64_t in_order(int64_t bytes) const {
    return world == 1 ? bytes : bytes / (slots * world) * test.seq;
  }
  // What came of a group, in order.
  int64_t has() const { return in_order(in()); }
  int64_t made() const { return in_order(out()); }
  int64_t given() const { return in_order(d_o()); }
};

constexpr int64_t kTensorsIn = 3;  // of those that go in or come back; O goes with LSE, and dO alone

// Forward: each head sees what the whole sequence sees; S = QK' and PV. Backward S again,
// dP = dO V', dV = P' dO, dQ = dS K and dK = dS' Q.
ExpectedPass pass(const Group& n, int64_t out, int64_t tensors_out, int64_t flops_a_pair) {
  const int64_t others = n.world - 1, pairs = pairs_of(n.test) / n.world;
  return {n.groups * n.travels(n.in() + out),
          (kTensorsIn + tensors_out) * others * n.test.batch * n.groups,
          pairs,
          pairs * flops_a_pair,
          n.groups,
          0,
          n.groups > 1 ? n.groups : 0};
}

// While O is rounded.
int64_t computing(const Group& n) {
  const int64_t rounded = n.e < n.wide ? n.rows * n.test.dim_v * n.e : 0;
  return n.in_order(n.rows * (n.test.dim_v + 1) * n.wide + rounded);
}

// While dq, then dk, then dv become those of the inputs, each in place of what the kernel returned; a kernel may
// return them in another order of their elements, and what is sent is not.
int64_t finishing_all(const Group& n) {
  const int64_t vectors = n.in_order(n.rows), of_keys = n.in_order(n.keys);
  const int64_t positions = n.world == 1 ? n.slots : n.test.seq;
  const int64_t wide_q = vectors * n.test.dim * n.wide, q = vectors * n.test.dim * n.e;
  const int64_t wide_k = of_keys * n.test.dim * n.wide, k = of_keys * n.test.dim * n.e;
  const int64_t wide_v = of_keys * n.test.dim_v * n.wide;
  const int64_t v = n.e < n.wide ? of_keys * n.test.dim_v * n.e : 0;
  return std::max({wide_q + wide_k + wide_v + std::max(n.world == 1 ? 0 : q, finishing(n.test, vectors, positions).takes),
                   q + wide_k + wide_v + finishing(n.test, of_keys, positions).takes,
                   q + k + wide_v + v});
}

// One rank has everything: nothing is exchanged, and nothing kept.
ExpectedStep alone(const Group& n) {
  return {{0, 0}, {n.own, n.own + computing(n)}, {n.own, n.own + finishing_all(n)}};
}

// The own K and V; of the groups up to this one q, k and v over the sequence, of those before it O and
// LSE, too, and those two home, the last ones leaving; and the next one on its way.
int64_t attending(const Group& n, int64_t group) {
  const int64_t home = group > 0 ? n.groups * n.out() + n.around(n.out()) : 0;
  const int64_t next = group + 1 < n.groups ? n.has() + n.around(n.in()) : 0;
  return n.own + (group + 1) * n.has() + group * n.made() + next + home;
}

// The same backward: of all groups q, k, v, O and LSE; dO of this one and the next; dq, dk and dv
// home, those of the group before, in order and leaving.
int64_t differentiating(const Group& n, int64_t group) {
  const int64_t home = group > 0 ? n.groups * n.in() + n.has() + n.around(n.in()) : 0;
  const int64_t next = group + 1 < n.groups ? n.given() + n.around(n.d_o()) : 0;
  return n.own + n.groups * (n.has() + n.made()) + n.given() + next + home;
}

// Then O is rounded, or the gradients are finished, dO being gone; what was leaving is there, and
// what was made leaves. And the group behind the next one is sent for.
ExpectedStep exchanged(const Group& n, int64_t group) {
  const int64_t last = n.groups - 1, now = attending(n, group), back = differentiating(n, group);
  const int64_t gradients = n.in_order(n.rows * n.test.dim * n.wide +
                                       n.keys * (n.test.dim + n.test.dim_v) * n.wide);
  const auto leaving = [&](int64_t shard) {
    return n.in_order(shard) + (group == 0 ? n.groups * shard + n.around(shard) : 0);
  };
  return {{ExpectedBlock::kSequence, ExpectedBlock::kSequence, n.world * n.groups},
          {now,
           std::max({now + computing(n), now + leaving(n.out()), group < last ? attending(n, group + 1) : 0}),
           std::max(now, n.own + n.has() + n.around(n.in()))},
          {back,
           std::max({back + gradients, back - n.given() + finishing_all(n), back - n.given() + leaving(n.in()),
                     group < last ? differentiating(n, group + 1) : 0}),
           std::max(back, n.own + n.groups * (n.has() + n.made()) + n.given() + n.around(n.d_o()))}};
}

ExpectedCounters counters(const Case& test, int rank) {
  const Group n(test, rank);
  ExpectedCounters expected;
  expected.heads = {rank * test.kv_heads / test.world, test.kv_heads / test.world};
  expected.result = {.rounded_o = true, .finished_gradients = true};
  expected.forward = pass(n, n.out(), 2, 2 * (test.dim + test.dim_v));
  expected.backward = pass(n, n.d_o(), 1, 6 * test.dim + 4 * test.dim_v);
  expected.forward_stock.after = n.own;
  if (n.world == 1) {
    expected.steps = {alone(n)};
  } else {
    for (int64_t group = 0; group < n.groups; ++group) expected.steps.push_back(exchanged(n, group));
    expected.kv_bytes = n.buffer(n.kv()) + n.groups * n.in_order(n.kv());
    expected.traveller_bytes = kv_block_bytes(test) + n.buffer(n.kv());
    expected.forward_stock.after += n.groups * (n.has() + n.made());
  }
  expected.backward_stock.after = expected.forward_stock.after;
  expected.sent_to.assign(test.world, (expected.forward.bytes + expected.backward.bytes) / std::max(1, test.world - 1));
  expected.sent_to[rank] = 0;
  expected.received_from = expected.sent_to;
  return expected;
}

const ExpectedStrategies::Add registered{"ulysses", {counters}};

}  // namespace
}  // namespace ringcheck::parity
