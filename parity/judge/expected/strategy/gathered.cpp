// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// "[N]": N groups of key-value heads; "": the most that divide them, up to 4. One rank has one.
int64_t groups_of(const Case& test) {
  if (test.world == 1) return 1;
  if (!test.arguments.empty()) return std::stoll(test.arguments.substr(1));
  for (const int64_t groups : {4, 3, 2})
    if (test.kv_heads % groups == 0) return groups;
  return 1;
}

// All-gather context parallelism (Dubey et al., Llama 3, 2024, section 3.3.2), of G groups of heads
// and P ranks. Bytes of a group: of one rank's K and V and of those of the sequence, and of their
// gradients.
struct Group {
  explicit Group(const Case& test)
      : world(test.world), groups(groups_of(test)), kv(kv_block_bytes(test) / groups),
        gradient(gradient_block_bytes(test) / groups) {
    const int64_t slots = slots_of_rank(test), heads = test.q_heads / groups;
    sequence = kv / slots * test.seq;
    terms = gradient / slots * test.seq;
    const auto e = static_cast<int64_t>(c10::elementSize(test.dtype));
    const int64_t rows = test.batch * heads * slots, wide = wide_bytes(test);
    const bool apart = test.batch > 1 && groups > 1;  // the heads of a group lie in pieces
    q = apart ? rows * test.dim * e : 0;
    saved = apart ? rows * (2 * test.dim_v * e + wide) + d_bytes(test, rows) : 0;
  }
  int64_t world, groups, kv, gradient, sequence = 0, terms = 0;
  int64_t q = 0, saved = 0;  // copies of what the kernel is given, forward and, beside it, backward

  // K and V under way to this rank: what it sends, and what comes of every rank.
  int64_t under_way() const { return kv + world * kv; }
  // Gradients under way: of this rank's terms for every owner, and what the others send.
  int64_t going_home() const { return (2 * world - 1) * gradient; }
  // K and V of a group while it is attended, the next one under way.
  int64_t held(int64_t group) const { return sequence + (group + 1 < groups ? under_way() : 0); }
  // The most before a group is attended: it comes, is put in order, the one behind it is posted, and
  // what the kernel is given is copied.
  int64_t before(int64_t group, int64_t copies) const {
    return group < groups ? std::max(world * kv + sequence, held(group) + copies) : 0;
  }
};

// Each query head meets all keys it sees in one call: S = QK' and PV; S again, dP = dO V',
// dV = P' dO, dQ = dS K and dK = dS' Q backward. Of K and V, and of the gradients, everything goes to
// everybody else once a pass: the K and V of a group while the one before it is attended, its gradients
// while the next one is.
ExpectedPass pass(const Case& test, int rank, int64_t bytes, int64_t messages, int64_t flops_a_pair,
                  int64_t overlapped) {
  const int64_t others = test.world - 1, pairs = pairs_of(test, rank);
  return {others * bytes, others * messages, pairs, pairs * flops_a_pair, groups_of(test), 0,
          overlapped};
}

// The own K and V; forward O and LSE, backward dQ and the sum of dK and dV; and of the groups what is
// held of them.
ExpectedStep step_of(const Case& test, const Group& n, int64_t group, int rank) {
  const auto e = static_cast<int64_t>(c10::elementSize(test.dtype));
  const int64_t rows = test.batch * test.q_heads * slots_of_rank(test);
  const int64_t own = own_kv_bytes(test, rank), forward = own + rows * (test.dim_v * e + wide_bytes(test));
  const int64_t backward = own + query_gradient_bytes(test) + gradient_block_bytes(test);
  const int64_t leaving = group > 0 ? n.going_home() : 0;
  const int64_t returned = query_gradient_bytes(test) / n.groups + n.terms;
  const int64_t attending = backward + n.held(group) + leaving + n.q + n.saved;
  return {{rank, ExpectedBlock::kSequence, n.groups},
          {forward + n.held(group) + n.q,
           forward + std::max(n.held(group) + n.q + partial_bytes(test) / n.groups,
                              n.before(group + 1, n.q)),
           forward + std::max(n.under_way(), n.before(0, n.q))},
          {attending,
           std::max({attending + returned, backward + n.held(group) + returned + n.going_home(),
                     backward + n.going_home() + n.before(group + 1, n.q + n.saved)}),
           backward + std::max(n.under_way(), n.before(0, n.q + n.saved))}};
}

ExpectedCounters counters(const Case& test, int rank) {
  const Group n(test);
  const int64_t kv = kv_block_bytes(test), gradient = gradient_block_bytes(test);
  ExpectedCounters expected;
  expected.heads = {0, test.kv_heads};
  expected.forward = pass(test, rank, kv, n.groups, 2 * (test.dim + test.dim_v),
                          n.groups - 1);
  expected.backward = pass(test, rank, kv + gradient, 2 * n.groups, 6 * test.dim + 4 * test.dim_v,
                           n.groups > 1 ? n.groups : 0);
  expected.forward_stock.after = expected.backward_stock.after = own_kv_bytes(test, rank);
  if (n.world == 1) {
    alone(test, expected);
  } else {
    for (int64_t group = 0; group < n.groups; ++group)
      expected.steps.push_back(step_of(test, n, group, rank));
    expected.kv_bytes = std::max(n.under_way(), n.before(0, 0));
    expected.traveller_bytes = gradient + n.going_home();
    expected.result = {.rounded_o = true, .one_gradient_block = true};
    expected.one_d = true;
  }
  expected.sent_to.assign(test.world, 2 * kv + gradient);
  expected.sent_to[rank] = 0;
  expected.received_from = expected.sent_to;
  return expected;
}

const ExpectedStrategies::Add registered{"gathered", {counters}};

}  // namespace
}  // namespace ringcheck::parity
