// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/context_parallel.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cp/attention/fused.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// What does not change a single bit of O, LSE, dQ, dK and dV, in any dtype, on any rank.
namespace ringcheck {
namespace {

// How the blocks travel: all arguments of a strategy that it says give the same bits.
RC_GTEST_PROP(ContextParallel, RotationsAgreeBitForBit, ()) {
  parity::Case test = *gen::test_case().as("case");
  const auto others = [&] { return Strategies::at(test.strategy).same_bits(test.arguments); };
  if (others().empty()) test.strategy = parity::Case{}.strategy, test.arguments = parity::Case{}.arguments;
  RC_ASSERT(others().size() >= 3U);
  const Pass first = run_pass(test);
  for (const std::string& arguments : others()) {
    parity::Case other = test;
    other.arguments = arguments;
    RC_LOG() << parity::to_text(other) << std::endl;
    RC_ASSERT(difference(run_pass(other), first) == "");
  }
}

// The kernel itself, forward and backward, as a rank calls it.
reference::Tensors by_kernel(const parity::Case& test, const parity::Problem& p) {
  const Plan plan = parity::plan_of(test);
  const Positions& own = plan.layout.queries.at(0);
  const QBlock q{p.q, own};
  const KvBlock kv = pack(p.k, p.v, own);
  const Visibility visibility = visibility_of(q, kv, plan.scores);
  const Partial part = plan.kernel->forward(q, kv, plan.scores, visibility);
  const at::Tensor o = part.out.to(test.dtype);
  const Saved saved{o, part.lse, row_dots(p.d_o, o), p.d_o};
  const Gradients d = plan.kernel->backward(q, kv, saved, plan.scores, visibility);
  return {o, part.lse, d.dq.to(test.dtype), d.dk.to(test.dtype), d.dv.to(test.dtype)};
}

// Context parallelism of one rank: it is the kernel. (Flash attention's bits depend on where its
// inputs lie in memory, and so do those of cuBLAS: rotations align them, and on GPUs this is stated
// for the kernel that calls no library.)
RC_GTEST_PROP(ContextParallel, OneRankIsTheKernel, ()) {
  parity::Case test = *gen::test_case().as("case");
  test.world = 1;
  test.rope = {};
  if (test.device != "cpu")
    test.kernel = plainest_kernel(parity::device_type_of(test));
  const Positions own = parity::layout_of(test).queries.at(0);
  const parity::Problem p = local_problem(test, parity::problem_of(test), own, 0);
  const auto expected = on_every_rank(1, [&](Communicator&) { return by_kernel(test, p); });
  RC_ASSERT(difference(run_pass(test).ranks[0].tensors, expected[0]) == "");
}

// The same input a second time.
RC_GTEST_PROP(ContextParallel, SameInputGivesTheSameBits, ()) {
  const parity::Case test = *gen::test_case().as("case");
  RC_ASSERT(difference(run_pass(test), run_pass(test)) == "");
}

// What slots without a token hold; they themselves come back empty, with zero gradients.
RC_GTEST_PROP(ContextParallel, PadsDoNotMatter, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const double content = *gen::choice<double>({NAN, INFINITY, -INFINITY, 1e4, -1e4}).as("content");
  const parity::Problem problem = parity::problem_of(test);
  const Pass zero = run_pass(test, problem, 0);
  RC_ASSERT(difference(run_pass(test, problem, content), zero) == "");
}

RC_GTEST_PROP(ContextParallel, PadsComeBackEmpty, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const Pass pass = run_pass(test, parity::problem_of(test), NAN);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  for (int rank = 0; rank < test.world; ++rank) {
    const reference::Tensors& t = pass.ranks[rank].tensors;
    int64_t slot = 0;
    for (const int64_t position : flatten(layout[rank])) {
      if (!is_token(parity::mask_of(test), position)) {
        for (const at::Tensor& x : {t.o, t.dq, t.dk, t.dv})
          RC_ASSERT(x.select(2, slot).eq(0).all().item<bool>());
        RC_ASSERT(t.lse.select(2, slot).isneginf().all().item<bool>());
      }
      ++slot;
    }
  }
}

// The memory layout of the inputs: [batch, seq, heads, dim], and a slice of a wider tensor.
RC_GTEST_PROP(ContextParallel, StridesDoNotMatter, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const bool sliced = *gen::flag().as("sliced");
  const auto strided = [&](const at::Tensor& x) {
    if (sliced)
      return at::cat({x, x, x}, 3).narrow(3, x.size(3), x.size(3));
    return x.transpose(1, 2).contiguous().transpose(1, 2);
  };
  const parity::Problem problem = parity::problem_of(test);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const Pass pass = together(
      test, on_every_rank(test.world, [&](Communicator& comm) {
        const parity::Problem p = local_problem(test, problem, layout[comm.rank()], 0);
        return rank_pass(comm, test, {strided(p.q), strided(p.k), strided(p.v), strided(p.d_o)});
      }));
  RC_ASSERT(difference(pass, run_pass(test)) == "");
}

// The inputs, by a pass over them.
RC_GTEST_PROP(ContextParallel, InputsAreUntouched, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const parity::Problem problem = parity::problem_of(test);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto wrong = on_every_rank(test.world, [&](Communicator& comm) {
    const parity::Problem p = local_problem(test, problem, layout[comm.rank()], 3);
    const parity::Problem q = local_problem(test, problem, layout[comm.rank()], 3);
    rank_pass(comm, test, p);
    return difference(p.q, q.q) + difference(p.k, q.k) + difference(p.v, q.v) +
           difference(p.d_o, q.d_o);
  });
  RC_ASSERT(wrong == std::vector<std::string>(test.world));
}

// Results are in the dtype of the inputs, LSE in the accumulation type, all as large as the shard.
RC_GTEST_PROP(ContextParallel, ResultsHaveTheShapesOfTheShard, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const int64_t slots = count(parity::layout_of(test).queries[0]), b = test.batch, h = test.q_heads;
  for (const RankPass& rank : run_pass(test).ranks) {
    const reference::Tensors& t = rank.tensors;
    for (const at::Tensor& x : {t.o, t.dq, t.dk, t.dv})
      RC_ASSERT((x.scalar_type() == test.dtype));
    RC_ASSERT((t.lse.scalar_type() == accumulation_type(test.dtype)));
    RC_ASSERT((t.o.sizes() == at::IntArrayRef({b, h, slots, test.dim_v})));
    RC_ASSERT((t.lse.sizes() == at::IntArrayRef({b, h, slots})));
    RC_ASSERT((t.dq.sizes() == at::IntArrayRef({b, h, slots, test.dim})));
    RC_ASSERT((t.dk.sizes() == at::IntArrayRef({b, test.kv_heads, slots, test.dim})));
    RC_ASSERT((t.dv.sizes() == at::IntArrayRef({b, test.kv_heads, slots, test.dim_v})));
  }
}

}  // namespace
}  // namespace ringcheck
