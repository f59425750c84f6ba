// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property_tests/cp/attention/passes.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// Heads by all-to-all: every head is attended as by one rank that has the whole sequence.
namespace ringcheck {
namespace {

// Any balancer, mask, dtype and kernel, and groups of query heads.
parity::Case ulysses_case() {
  parity::Case test = *gen::test_case().as("case");
  test.strategy = "ulysses";
  test.arguments = *gen::choice<std::string>({"", "[2]", "[3]"}).as("arguments");
  test.world = *gen::choice<int>({2, 1, 3, 5, 7, 8}).as("world");
  parity::deal_heads(test);
  if (parity::not_supported(test)) test.kernel = plainest_kernel(parity::device_type_of(test));
  return test;
}

// On one rank that holds the sequence as it is; one that is alone keeps its shard, with the pads.
parity::Case alone(parity::Case test) {
  if (test.world > 1) test.balance = "contiguous", test.block = 1;
  test.world = 1;
  test.strategy = "ring";
  test.arguments = ":p2p";
  return test;
}

int64_t groups_of(const parity::Case& test) {
  return test.world == 1 || test.arguments.empty() ? 1 : std::stoll(test.arguments.substr(1));
}

// Of all heads those that a rank attends at once, of so many in a row.
struct SomeHeads {
  int64_t which, of;
  at::Tensor operator()(const at::Tensor& x) const {
    const int64_t share = x.size(1) / of;
    return x.narrow(1, which * share, share).contiguous();
  }
};

// O, LSE, dQ, dK and dV of the heads of a group, in every bit: the kernel is given the same. (Of all heads
// at once a library may multiply in another order.)
RC_GTEST_PROP(Ulysses, EveryHeadIsAsOnOneRank, ()) {
  const parity::Case test = ulysses_case();
  const parity::Problem p = parity::problem_of(test);
  const reference::Tensors whole = run_pass(test, p).whole;
  const int64_t shares = test.world * groups_of(test);
  for (int64_t share = 0; share < shares; ++share) {
    const SomeHeads heads{share, shares};
    parity::Case one = alone(test);
    one.q_heads /= shares;
    one.kv_heads /= shares;
    const Pass expected = run_pass(one, {heads(p.q), heads(p.k), heads(p.v), heads(p.d_o)});
    RC_ASSERT(difference({heads(whole.o), heads(whole.lse), heads(whole.dq), heads(whole.dk),
                          heads(whole.dv)},
                         expected.whole) == "");
  }
}

// A block for each group and pass, of the whole sequence and a share of the heads; nothing is merged.
RC_GTEST_PROP(Ulysses, EveryRankAttendsTheSequenceOnce, ()) {
  const parity::Case test = ulysses_case();
  const Pass pass = run_pass(test);
  const int64_t groups = groups_of(test), share = test.kv_heads / (test.world * groups);
  for (int rank = 0; rank < test.world; ++rank) {
    const Ledger& ledger = *pass.ranks[rank].ledger;
    RC_ASSERT(std::ssize(ledger.attentions()) == 2 * groups);
    int64_t attended = 0;
    for (const Attended& event : ledger.attentions()) {
      if (test.world > 1) RC_ASSERT((event.keys == Positions{{0, test.seq}}));
      RC_ASSERT(event.heads.count == share);
      RC_ASSERT(event.heads.begin == (rank * groups + attended++ % groups) * share);
    }
    RC_ASSERT(ledger.sum(Phase::kForward).merges == 0);
  }
}

// What the heads cannot be dealt to is refused, with the value and what fits.
TEST(Ulysses, RefusesGroupsThatDoNotDivideTheHeadsOfARank) {
  const auto why = parity::not_supported(parity::parse_case("ulysses[4]/causal/P2/hq12/hkv12/s64/d16"));
  ASSERT_TRUE(why.has_value());
  EXPECT_THAT(*why, testing::AllOf(testing::HasSubstr("6 kv-heads of a rank"), testing::HasSubstr("use ulysses[2]")));
  EXPECT_FALSE(parity::not_supported(parity::parse_case("ulysses[3]/causal/P2/hq12/hkv12/s64/d16")));
}


TEST(Ulysses, RefusesHeadsThatItCannotDeal) {
  const auto why = parity::not_supported(parity::parse_case("ulysses/causal/P4/hq8/hkv2/s64/d16"));
  ASSERT_TRUE(why.has_value());
  EXPECT_THAT(*why, testing::AllOf(testing::HasSubstr("kv-heads 2"), testing::HasSubstr("world 4"),
                                   testing::HasSubstr("use world 2")));
  EXPECT_FALSE(parity::not_supported(parity::parse_case("ulysses/causal/P2/hq8/hkv2/s64/d16")));
}

// The kernel is asked about the block that it is given: shards of one slot say nothing about it.
TEST(Ulysses, TheKernelIsAskedAboutTheSequence) {
  const parity::Case test = parity::parse_case("ulysses/contiguous/causal/P4/hq8/hkv4/s64/d16");
  const auto blocks = Strategies::at("ulysses").blocks(
      parity::plan_of(test), {.q_heads = 8, .kv_heads = 4, .dim = 16, .dim_v = 16});
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].q_heads, 2);
  EXPECT_EQ(blocks[0].kv_heads, 1);
  EXPECT_EQ(blocks[0].visibility.pairs(), 64 * 65 / 2);
}

}  // namespace
}  // namespace ringcheck
