// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cp/layout/shard.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// K and V by groups of heads: every query meets the whole sequence in one call.
namespace ringcheck {
namespace {

// Any balancer, mask, dtype and kernel; without RoPE, so that a kernel can be called beside it.
parity::Case gathered_case() {
  parity::Case test = *gen::test_case().as("case");
  test.strategy = "gathered";
  test.arguments = *gen::choice<std::string>({"", "[1]", "[6]"}).as("groups");
  if (test.arguments == "[6]") {  // more than it takes by itself
    test.q_heads = 6 * (test.q_heads / test.kv_heads);
    test.kv_heads = 6;
  }
  test.world = *gen::choice<int>({2, 3, 5, 7, 8}).as("world");
  test.rope.pairing = Rope::Pairing::kNone;
  if (parity::not_supported(test)) test.kernel = plainest_kernel(parity::device_type_of(test));
  return test;
}

// The slots at these positions of x [batch, heads, length, ...]; pads are 0.
at::Tensor slots_of(const at::Tensor& x, const Positions& positions) {
  auto sizes = x.sizes().vec();
  sizes[2] = count(positions);
  const at::Tensor slots = at::zeros(sizes, x.options());
  int64_t slot = 0;
  for (const int64_t position : flatten(positions)) {
    if (position < x.size(2)) slots.select(2, slot).copy_(x.select(2, position));
    ++slot;
  }
  return slots;
}

// The first group whose O or LSE is not, in every bit, that of one kernel call; "" if all are. To be
// called where a rank computes: a library may multiply otherwise on another number of threads.
std::string unlike_one_call(const parity::Case& test, const parity::Problem& p, const RankPass& got,
                            int rank) {
  const Plan plan = parity::plan_of(test);
  const Mask& mask = plan.scores.mask;
  const Positions &own = plan.layout.queries[rank], all{{0, test.seq}};
  const at::Tensor q = zero_pads(slots_of(p.q, own), mask, own);
  const at::Tensor k = zero_pads(p.k, mask, all), v = zero_pads(p.v, mask, all);
  const int64_t group = test.q_heads / test.kv_heads;
  for (const Attended& event : got.ledger->attentions()) {
    if (event.phase != Phase::kForward) continue;
    const auto heads = [&](const at::Tensor& x, int64_t each) {
      return x.narrow(1, event.heads.begin * each, event.heads.count * each).contiguous();
    };
    const Partial alone = plan.kernel->forward({heads(q, group), own},
                                               pack(heads(k, 1), heads(v, 1), all), plan.scores,
                                               {mask, own, all});
    if (!at::equal(heads(got.tensors.o, group), alone.out.to(test.dtype)) ||
        !at::equal(heads(got.tensors.lse, group), alone.lse))
      return "rank " + std::to_string(rank) + ", from head " + std::to_string(event.heads.begin);
  }
  return "";
}

RC_GTEST_PROP(Gathered, EveryQueryMeetsTheSequenceInOneCall, ()) {
  const parity::Case test = gathered_case();
  const parity::Problem p = parity::problem_of(test);
  const Pass pass = run_pass(test, p);
  const auto unlike = on_every_rank(test.world, [&](Communicator& comm) {
    return unlike_one_call(test, p, pass.ranks[comm.rank()], comm.rank());
  });
  for (const std::string& where : unlike) RC_ASSERT(where == "");
}

// In each pass every key-value head once, against the whole sequence; nothing is merged.
RC_GTEST_PROP(Gathered, EveryHeadIsAttendedOnceAPass, ()) {
  const parity::Case test = gathered_case();
  const Pass pass = run_pass(test);
  for (const RankPass& rank : pass.ranks) {
    std::vector<int> attended(test.kv_heads, 0);
    for (const Attended& event : rank.ledger->attentions()) {
      RC_ASSERT((event.keys == Positions{{0, test.seq}}));
      for (int64_t head = 0; head < event.heads.count; ++head)
        ++attended.at(event.heads.begin + head);
    }
    RC_ASSERT(attended == std::vector<int>(test.kv_heads, 2));
    RC_ASSERT(rank.ledger->sum(Phase::kForward).merges == 0);
  }
}

// Groups that the heads do not go into are refused, with the value and what fits.
TEST(Gathered, RefusesGroupsThatDoNotDivideTheHeads) {
  const auto why = parity::not_supported(parity::parse_case("gathered[4]/P2/hq12/hkv6/s64/d16"));
  ASSERT_TRUE(why.has_value());
  EXPECT_THAT(*why, testing::AllOf(testing::HasSubstr("kv-heads 6"), testing::HasSubstr("4 groups"),
                                   testing::HasSubstr("use gathered[2]")));
  EXPECT_FALSE(parity::not_supported(parity::parse_case("gathered[2]/P2/hq12/hkv6/s64/d16")));
}

// The kernel is asked about the queries of every rank against the sequence, by groups of heads.
TEST(Gathered, TheKernelIsAskedAboutTheBlocksThatItIsGiven) {
  const parity::Case test = parity::parse_case("gathered/contiguous/causal/P4/hq8/hkv4/s64/d16");
  const auto blocks = Strategies::at("gathered").blocks(
      parity::plan_of(test), {.q_heads = 8, .kv_heads = 4, .dim = 16, .dim_v = 16});
  ASSERT_EQ(blocks.size(), 4U);
  int64_t pairs = 0;
  for (const BlockShape& block : blocks) {
    EXPECT_EQ(block.q_heads, 2);
    EXPECT_EQ(block.kv_heads, 1);
    pairs += block.visibility.pairs();
  }
  EXPECT_EQ(pairs, 64 * 65 / 2);
}

}  // namespace
}  // namespace ringcheck
