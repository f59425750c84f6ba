// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/expected_counters.h"

#include <algorithm>

#include "cp/attention/attention_kernel.h"

namespace ringcheck::parity {
namespace {

int64_t element_bytes(at::ScalarType type) { return static_cast<int64_t>(c10::elementSize(type)); }

int64_t granule(const Case& test) {
  if (test.balance == "headtail") return 2 * test.world;
  if (test.balance == "striped") return test.world * test.block;
  if (test.balance == "contiguous") return test.world;
  throw BadCase("balancer " + test.balance + " has no closed form in expected_counters.cpp");
}

// Slots of a rank, the pads that fill up the last granule included.
int64_t slots(const Case& test) {
  const int64_t c = granule(test);
  return (test.seq + c - 1) / c * c / test.world;
}

struct KeysSeen {
  int64_t q, seq;
  int64_t operator()(const Full&) const { return seq; }
  int64_t operator()(const Causal&) const { return q + 1; }
  int64_t operator()(const Window& m) const { return std::min(q + 1, m.width); }
  int64_t operator()(const Prefix& m) const { return std::min(seq, std::max(q + 1, m.length)); }
  int64_t operator()(const DocumentCausal& m) const {
    const Place at = place(m.documents, q);
    return at.is_token ? at.token + 1 : 0;
  }
  int64_t operator()(const DocumentFull& m) const {
    const Place at = place(m.documents, q);
    return at.is_token ? m.documents[at.document].length : 0;
  }
};

// Visible (query, key) pairs of the tokens of a rank, over batch and query heads.
int64_t pairs(const Case& test, int rank) {
  int64_t sum = 0;
  for (int64_t q = 0; q < test.seq; ++q)
    if (owner_of(test, q) == rank) sum += keys_seen(test, q);
  return sum * test.batch * test.q_heads;
}

// Inputs, outputs and their copies in the other frame, partial results and what the kernel says
// it needs.
int64_t peak_bound(const Case& test, const ExpectedCounters& expected) {
  const int64_t e = element_bytes(test.dtype);
  const int64_t wide = element_bytes(accumulation_type(test.dtype));
  const int64_t rows = test.batch * test.q_heads * slots(test);
  const int64_t keys = test.batch * test.kv_heads * slots(test);
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
  const int64_t angles = slots(test) * (test.dim + 16) * 2 * wide;
  return 4 * inputs * e + partials * wide + expected.kv_bytes + expected.traveller_bytes +
         workspace + angles + fixed;
}

}  // namespace

int owner_of(const Case& test, int64_t position) {
  const int64_t world = test.world, padded = slots(test) * world;
  if (test.balance == "striped") return static_cast<int>(position / test.block % world);
  if (test.balance == "contiguous") return static_cast<int>(position / (padded / world));
  const int64_t chunk = position / (padded / (2 * world));
  return static_cast<int>(chunk < world ? chunk : 2 * world - 1 - chunk);
}

int64_t keys_seen(const Case& test, int64_t position) {
  return std::visit(KeysSeen{position, test.seq}, test.mask);
}

ExpectedCounters expected_counters(const Case& test, int rank) {
  const int64_t world = test.world, hops = world - 1;
  const int64_t elements = test.batch * test.kv_heads * slots(test) * (test.dim + test.dim_v);
  const int64_t kv = elements * element_bytes(test.dtype);
  const int64_t gradient = elements * element_bytes(accumulation_type(test.dtype));
  const bool gathers = test.rotation == "allgather";
  const int64_t kv_again = test.keep ? 0 : hops;
  // A ring takes the gradients one hop further, home; straight senders keep their own term.
  const int64_t gradient_hops = gathers ? hops : (world > 1 ? world : 0);

  ExpectedCounters expected;
  expected.forward = {hops * kv, hops, pairs(test, rank), 0, world};
  expected.backward = {kv_again * kv + gradient_hops * gradient, kv_again + gradient_hops,
                       expected.forward.pairs, 0, world};
  expected.forward.flops = expected.forward.pairs * 2 * (test.dim + test.dim_v);
  expected.backward.flops = expected.backward.pairs * (6 * test.dim + 4 * test.dim_v);
  expected.kv_bytes = (gathers ? world + 1 : std::min<int64_t>(world, 3)) * kv;
  // The own sum, and where terms move beside it an incoming and an outgoing buffer; in a ring the
  // own sum is the outgoing one.
  expected.traveller_bytes = (world == 1 ? 1 : gathers ? 3 : 2) * gradient;
  expected.sent_to.assign(world, 0);
  expected.received_from.assign(world, 0);
  const int64_t total = expected.forward.bytes + expected.backward.bytes;
  if (gathers) {
    for (int64_t peer = 0; peer < world; ++peer)
      if (peer != rank)
        expected.sent_to[peer] = expected.received_from[peer] = total / hops;
  } else if (world > 1) {
    expected.sent_to[(rank + 1) % world] = total;
    expected.received_from[(rank + world - 1) % world] = total;
  }
  expected.peak_bytes = peak_bound(test, expected);
  return expected;
}

}  // namespace ringcheck::parity
