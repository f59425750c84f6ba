// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "parity/subject/calls.h"
#include "parity/subject/ours.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// What happened before, and where the ranks sit, does not change a single bit.
namespace ringcheck {
namespace {

// All of other values, and another backward pass of its own, between a forward pass and its
// backward pass.
RC_GTEST_PROP(ContextParallelState, PassesMayInterleave, ()) {
  const parity::Case test = *gen::test_case().as("case");
  parity::Case later = test;
  ++later.seed;
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const parity::Problem first = parity::problem_of(test), second = parity::problem_of(later);
  const Pass interleaved =
      together(test, on_every_rank(test.world, [&](Communicator& comm) {
                 const Positions& own = layout[comm.rank()];
                 const parity::Problem a = local_problem(test, first, own, 0);
                 const parity::Problem b = local_problem(test, second, own, 0);
                 ContextParallel attention(comm, parity::options_of(test));
                 auto context = attention.forward(a.q, a.k, a.v);
                 auto other = attention.forward(b.q, b.k, b.v);
                 attention.backward(context, b.d_o);
                 attention.backward(other, b.d_o);
                 const Gradients d = attention.backward(context, a.d_o);
                 return RankPass{
                     {context.o, context.lse, d.dq, d.dk, d.dv}, context.q.q, context.kv.k(), {}};
               }));
  RC_ASSERT(difference(interleaved, run_pass(test)) == "");
}

// One ContextParallel: a pass after a pass of another shape, and once more, gives the same bits. What
// it remembers of a layout and of a shape changes nothing.
RC_GTEST_PROP(ContextParallelState, WhatIsRememberedChangesNothing, ()) {
  const parity::Case test = *gen::test_case().as("case");
  parity::Case other = test;
  other.q_heads *= 3;
  other.kv_heads *= 3;
  const parity::Problem problem = parity::problem_of(test), elsewhere = parity::problem_of(other);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const int passes = *gen::choice<int>({1, 2, 3}).as("passes before");
  const Pass last = together(test, on_every_rank(test.world, [&](Communicator& comm) {
    const parity::Problem a = local_problem(test, problem, layout[comm.rank()], 0);
    const parity::Problem b = local_problem(other, elsewhere, layout[comm.rank()], 0);
    ContextParallel attention(comm, parity::options_of(test));
    const auto both_passes = [&](const parity::Problem& p) {
      auto context = attention.forward(p.q, p.k, p.v);
      const Gradients d = attention.backward(context, p.d_o);
      return RankPass{{context.o, context.lse, d.dq, d.dk, d.dv}, context.q.q, context.kv.k(), {}};
    };
    for (int n = 0; n < passes; ++n) both_passes(n % 2 == 0 ? b : a);
    return both_passes(a);
  }));
  RC_ASSERT(difference(last, run_pass(test)) == "");
}

// A model of other sizes on the same communicator before it.
RC_GTEST_PROP(ContextParallelState, ModelsDoNotDisturbEachOther, ()) {
  const parity::Case test = *gen::test_case().as("case");
  parity::Case other = test;
  other.q_heads *= 3;
  other.kv_heads *= 3;
  other.batch = 3 - test.batch;
  const parity::Problem problem = parity::problem_of(test), elsewhere = parity::problem_of(other);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const Pass after = together(test, on_every_rank(test.world, [&](Communicator& comm) {
                                const Positions& own = layout[comm.rank()];
                                rank_pass(comm, other, local_problem(other, elsewhere, own, 0));
                                return rank_pass(comm, test, local_problem(test, problem, own, 0));
                              }));
  RC_ASSERT(difference(after, run_pass(test)) == "");
}

// Whether the ranks are a world or a group of one: offset, strided, reversed.
RC_GTEST_PROP(ContextParallelState, GroupsAreLikeWorlds, ()) {
  parity::Case test = *gen::test_case().as("case");
  test.world = std::min(test.world, 4);
  parity::deal_heads(test);
  const bool strided = *gen::flag().as("strided");
  const int order = *gen::choice<int>({1, -1}).as("order");
  const parity::Problem problem = parity::problem_of(test);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto ranks = on_every_rank(2 * test.world, [&](Communicator& world) {
    const int color = strided ? world.rank() % 2 : world.rank() / test.world;
    const auto comm = world.split(color, order * world.rank());
    return rank_pass(*comm, test, local_problem(test, problem, layout[comm->rank()], 0)).tensors;
  });
  const Pass alone = run_pass(test);
  for (int world_rank = 0; world_rank < 2 * test.world; ++world_rank) {
    const int place = strided ? world_rank / 2 : world_rank % test.world;
    const int rank = order > 0 ? place : test.world - 1 - place;
    RC_ASSERT(difference(ranks[world_rank], alone.ranks[rank].tensors) == "");
  }
}

// What a rank counts is what its own group did in this pass: not another group, nor a pass before.
RC_GTEST_PROP(ContextParallelState, GroupsCountLikeWorlds, ()) {
  parity::Case test = *gen::test_case().as("case");
  test.world = std::min(test.world, 4);
  parity::deal_heads(test);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto record = [&](Communicator& comm) {
    const Positions& own = layout[comm.rank()];
    parity::RankRecord record =
        parity::called({test}, comm, *parity::ours(), {parity::problem_of(test, own), own}).record;
    if (!comm.device().is_cpu()) {  // libraries take memory at their first call, and keep it
      record.peak_bytes = 0;
      record.forward_stock = record.backward_stock = {};
    }
    return record;
  };
  const auto alone = on_every_rank(test.world, record);
  const auto ranks = on_every_rank(2 * test.world, [&](Communicator& world) {
    const auto comm = world.split(world.rank() % 2, world.rank());
    record(*comm);
    return record(*comm);
  });
  for (int world_rank = 0; world_rank < 2 * test.world; ++world_rank)
    RC_ASSERT(ranks[world_rank] == alone[world_rank / 2]);
}

}  // namespace
}  // namespace ringcheck
