// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// What a pass of the ring does, counted: work, messages, bytes, and what the kernel is told.
namespace ringcheck {
namespace {

using Direction = Transferred::Direction;

struct Ran {
  parity::Case test;
  Pass pass;
  std::vector<Positions> layout;
};

parity::Case ring_case() {
  parity::Case test = *gen::test_case().as("case");
  if (test.strategy != "ring") test.strategy = "ring", test.arguments = ":p2p";
  return test;
}

Ran ran() {
  const parity::Case test = ring_case();
  return {test, run_pass(test), parity::layout_of(test).queries};
}

KvShape block_of(const Ran& r) {
  return {r.test.batch, r.test.kv_heads, count(r.layout[0]),
          r.test.dim,   r.test.dim_v,    r.test.dtype};
}

// Rank r attends to owners r, r - 1, ..., in both passes; queries are its own, keys the owner's.
RC_GTEST_PROP(ContextParallelLedger, EveryRankAttendsToEveryOwnerInRingOrder, ()) {
  const Ran r = ran();
  for (int rank = 0; rank < r.test.world; ++rank) {
    const auto& events = r.pass.ranks[rank].ledger->attentions();
    RC_ASSERT(static_cast<int>(events.size()) == 2 * r.test.world);
    for (int i = 0; i < 2 * r.test.world; ++i) {
      const int owner = (rank + 2 * r.test.world - i) % r.test.world;
      RC_ASSERT((events[i].phase == (i < r.test.world ? Phase::kForward : Phase::kBackward)));
      RC_ASSERT(events[i].queries == r.layout[rank]);
      RC_ASSERT(events[i].keys == r.layout[owner]);
      RC_ASSERT(events[i].heads.begin == 0);
      RC_ASSERT(events[i].heads.count == r.test.kv_heads);
      RC_ASSERT(events[i].end >= events[i].begin);
    }
  }
}

// Pairs are those of the predicate; 2(D + Dv) FLOPs each forward, 6D + 4Dv backward.
RC_GTEST_PROP(ContextParallelLedger, WorkIsThatOfTheMask, ()) {
  const Ran r = ran();
  const Mask mask = parity::mask_of(r.test);
  for (int rank = 0; rank < r.test.world; ++rank) {
    int64_t pairs = 0;
    for (const int64_t q : flatten(r.layout[rank]))
      for (int64_t k = 0; k < r.test.seq; ++k)
        pairs += visible(mask, q, k);
    pairs *= r.test.batch * r.test.q_heads;
    const Counters forward = r.pass.ranks[rank].ledger->sum(Phase::kForward);
    const Counters backward = r.pass.ranks[rank].ledger->sum(Phase::kBackward);
    RC_ASSERT(forward.pairs == pairs);
    RC_ASSERT(backward.pairs == pairs);
    RC_ASSERT(forward.flops == pairs * 2 * (r.test.dim + r.test.dim_v));
    RC_ASSERT(backward.flops == pairs * (6 * r.test.dim + 4 * r.test.dim_v));
    RC_ASSERT(forward.steps == r.test.world);
    RC_ASSERT(backward.steps == r.test.world);
    RC_ASSERT(forward.merges == r.test.world - 1);
    RC_ASSERT(backward.merges == 0);
  }
}

// Messages and bytes of both passes, sent and received, exactly; K and V are never expanded to the
// query heads, and gradients travel in the accumulation type.
RC_GTEST_PROP(ContextParallelLedger, TrafficIsExact, ()) {
  const Ran r = ran();
  const int64_t hops = r.test.world - 1;
  const int64_t kv = block_of(r).bytes();
  const int64_t gradient = block_of(r).in(accumulation_type(r.test.dtype)).bytes();
  const int64_t again = r.test.arguments.ends_with("[keep]") ? 0 : hops;
  const int64_t home = r.test.world == 1 ? 0 : r.test.arguments.starts_with(":allgather") ? hops : hops + 1;
  for (const RankPass& rank : r.pass.ranks) {
    const Counters forward = rank.ledger->sum(Phase::kForward);
    const Counters backward = rank.ledger->sum(Phase::kBackward);
    RC_ASSERT(forward.messages == hops);
    RC_ASSERT(forward.bytes_sent == hops * kv);
    RC_ASSERT(forward.bytes_received == hops * kv);
    RC_ASSERT(backward.messages == again + home);
    RC_ASSERT(backward.bytes_sent == again * kv + home * gradient);
    RC_ASSERT(backward.bytes_received == again * kv + home * gradient);
  }
}

// Edge by edge, what a rank sent is what its peer received; nothing goes to itself.
RC_GTEST_PROP(ContextParallelLedger, WhatIsSentIsReceived, ()) {
  const Ran r = ran();
  const int n = r.test.world;
  std::vector<std::vector<int64_t>> sent(n, std::vector<int64_t>(n)), received = sent;
  for (int rank = 0; rank < n; ++rank)
    for (const Transferred& event : r.pass.ranks[rank].ledger->transfers()) {
      RC_ASSERT(event.operation.peer != rank);
      RC_ASSERT(event.end >= event.begin);
      if (event.direction == Direction::kSent)
        sent[rank][event.operation.peer] += event.bytes;
      else
        received[event.operation.peer][rank] += event.bytes;
    }
  RC_ASSERT(sent == received);
}

// Counters do not depend on the values, and add up over passes.
RC_GTEST_PROP(ContextParallelLedger, CountersDoNotDependOnValues, ()) {
  const Ran r = ran();
  parity::Case other = r.test;
  ++other.seed;
  const Pass twice = together(r.test, on_every_rank(r.test.world, [&](Communicator& comm) {
                                const auto local = local_problem(other, parity::problem_of(other),
                                                                 r.layout[comm.rank()], 0);
                                rank_pass(comm, other, local);
                                return rank_pass(comm, other, local);
                              }));
  for (int rank = 0; rank < r.test.world; ++rank)
    for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
      const Counters one = r.pass.ranks[rank].ledger->sum(phase);
      const Counters both = twice.ranks[rank].ledger->sum(phase);
      RC_ASSERT(both.bytes_sent == 2 * one.bytes_sent);
      RC_ASSERT(both.bytes_received == 2 * one.bytes_received);
      RC_ASSERT(both.messages == 2 * one.messages);
      RC_ASSERT(both.pairs == 2 * one.pairs);
    }
}

// A kernel that notes what it is given.
struct Calls {
  std::vector<Mask> masks;
  std::vector<double> scales;
  std::vector<Saved> saved;
};

class Spy final : public AttentionKernel {
 public:
  Spy(std::shared_ptr<const AttentionKernel> inner, Calls& calls)
      : inner_(std::move(inner)), calls_(calls) {}
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    return inner_->refuses(shape);
  }
  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores,
                  const Visibility& visibility) const override {
    calls_.masks.push_back(scores.mask);
    calls_.scales.push_back(scores.scale);
    return inner_->forward(q, kv, scores, visibility);
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    calls_.masks.push_back(scores.mask);
    calls_.scales.push_back(scores.scale);
    calls_.saved.push_back(saved);
    return inner_->backward(q, kv, saved, scores, visibility);
  }
  CallBytes call_bytes(const BlockShape& shape) const override {
    return inner_->call_bytes(shape);
  }

 private:
  std::shared_ptr<const AttentionKernel> inner_;
  Calls& calls_;
};

// In every step of backward the kernel is given the final output, rounded to the dtype, its LSE,
// and D computed once from that output; mask and scale are the plan's in both passes.
RC_GTEST_PROP(ContextParallelLedger, TheKernelIsGivenTheFinalResult, ()) {
  const parity::Case test = ring_case();
  const parity::Problem problem = parity::problem_of(test);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto wrong = on_every_rank(test.world, [&](Communicator& comm) -> std::string {
    Calls calls;
    ContextParallel::Options options = parity::options_of(test);
    options.plan.kernel = std::make_shared<Spy>(options.plan.kernel, calls);
    const parity::Problem p = local_problem(test, problem, layout[comm.rank()], 0);
    ContextParallel attention(comm, options);
    auto context = attention.forward(p.q, p.k, p.v);
    attention.backward(context, p.d_o);
    const at::ScalarType wide = accumulation_type(test.dtype);
    const at::Tensor d = (p.d_o.to(wide) * context.o.to(wide)).sum(-1);
    std::string found;
    for (const Saved& saved : calls.saved)
      found += difference(saved.o, context.o) + difference(saved.lse, context.lse) +
               difference(saved.d, d) + difference(saved.d_o, p.d_o);
    for (const Mask& mask : calls.masks)
      if (!(mask == parity::mask_of(test)))
        found += "another mask; ";
    for (const double scale : calls.scales)
      if (scale != parity::scale_of(test))
        found += "another scale; ";
    if (static_cast<int>(calls.saved.size()) != test.world)
      found += "another number of steps; ";
    return found;
  });
  RC_ASSERT(wrong == std::vector<std::string>(test.world));
}

}  // namespace
}  // namespace ringcheck
