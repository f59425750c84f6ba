// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "property_tests/cp/attention/passes.h"

// Batch entries that hold different numbers of tokens know nothing of each other.
namespace ringcheck {
namespace {

using parity::Case;

class PaddedBatch : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  Case test_ = parity::parse_case(std::string(std::get<0>(GetParam())) + "/" + std::get<1>(GetParam()) +
                                  "/P2/lengths:9+14+0+1+13/hq4/hkv2/d8/dv12/float32/rope:half[10000]");

  // The case of one entry, cut as all are.
  Case alone(int64_t entry) const {
    Case one = test_;
    one.batch = 1;
    one.lengths = {test_.lengths.at(static_cast<size_t>(entry))};
    return one;
  }
};

parity::Problem entry_of(const parity::Problem& p, int64_t entry) {
  const auto of = [entry](const at::Tensor& x) { return x.narrow(0, entry, 1); };
  return {of(p.q), of(p.k), of(p.v), of(p.d_o)};
}

reference::Tensors entry_of(const reference::Tensors& p, int64_t entry) {
  const auto of = [entry](const at::Tensor& x) { return x.narrow(0, entry, 1); };
  return {of(p.o), of(p.lse), of(p.dq), of(p.dk), of(p.dv)};
}

// The pads of the problem hold NaN.
TEST_P(PaddedBatch, IsEachOfItsEntriesBitForBit) {
  const parity::Problem problem = parity::problem_of(test_);
  const Pass all = run_pass(test_, problem);
  for (int64_t entry = 0; entry < test_.batch; ++entry)
    EXPECT_EQ(difference(entry_of(all.whole, entry),
                         run_pass(alone(entry), entry_of(problem, entry)).whole),
              "")
        << "entry " << entry;
}

TEST_P(PaddedBatch, LeavesPadsEmpty) {
  const reference::Tensors whole = run_pass(test_).whole;
  for (int64_t entry = 0; entry < test_.batch; ++entry) {
    const int64_t length = test_.lengths[static_cast<size_t>(entry)];
    const auto pads = [&](const at::Tensor& x) {
      return x[entry].narrow(1, length, test_.seq - length);
    };
    for (const at::Tensor& x : {whole.o, whole.dq, whole.dk, whole.dv})
      EXPECT_TRUE(pads(x).eq(0).all().item<bool>());
    EXPECT_TRUE(pads(whole.lse).eq(-INFINITY).all().item<bool>());
    EXPECT_TRUE(whole.lse[entry].narrow(1, 0, length).isfinite().all().item<bool>());
  }
}

// What goes round is a whole shard, whoever holds tokens in it; what is attended is the sum.
TEST_P(PaddedBatch, CountsTheSumOfItsEntries) {
  const parity::Problem problem = parity::problem_of(test_);
  const Pass all = run_pass(test_, problem);
  Case full = test_;
  full.lengths.clear();
  const Pass unpadded = run_pass(full);
  for (size_t rank = 0; rank < all.ranks.size(); ++rank)
    for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
      Counters sum;
      for (int64_t entry = 0; entry < test_.batch; ++entry) {
        const Pass one = run_pass(alone(entry), entry_of(problem, entry));
        const Counters counted = one.ranks[rank].ledger->sum(phase);
        sum.pairs += counted.pairs;
        sum.flops += counted.flops;
        sum.computed += counted.computed;
      }
      const Counters counted = all.ranks[rank].ledger->sum(phase);
      const Counters whole = unpadded.ranks[rank].ledger->sum(phase);
      EXPECT_EQ(counted.pairs, sum.pairs);
      EXPECT_EQ(counted.flops, sum.flops);
      EXPECT_EQ(counted.computed, sum.computed);
      EXPECT_LT(counted.pairs, whole.pairs);
      EXPECT_EQ(counted.bytes_sent, whole.bytes_sent);
      EXPECT_EQ(counted.messages, whole.messages);
      EXPECT_EQ(counted.steps, whole.steps);
      EXPECT_EQ(counted.merges, whole.merges);
      EXPECT_EQ(counted.overlapped, whole.overlapped);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, PaddedBatch,
    ::testing::Combine(::testing::Values("ring:p2p/headtail/plain", "ring:allgather/striped[2]/plain",
                                         "gathered/contiguous/plain", "ulysses/headtail/plain"),
                       ::testing::Values("full", "causal", "window[5]", "prefix[4]")));

// Entries of one length that follow each other are one call of the kernel.
TEST(PaddedBatchPlan, ShowsEachLengthToTheKernel) {
  const Case test = parity::parse_case("full/P2/lengths:8+8+3/hq4/hkv2/d8/float32");
  const Plan plan = parity::plan_of(test);
  const BlockShape block{.dtype = at::kFloat, .batch = 3, .q_heads = 4, .kv_heads = 2, .dim = 8, .dim_v = 8,
                         .visibility = {plan.scores.mask, {{0, 8}}, {{0, 8}}}};
  const std::vector<BlockShape> calls = calls_of(block, plan.lengths);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].batch, 2);
  EXPECT_EQ(calls[0].visibility.pairs(), 64);
  EXPECT_EQ(calls[1].batch, 1);
  EXPECT_EQ(calls[1].visibility.pairs(), 9);
}

// As of other arguments, on every rank and before anything is sent.
TEST(PaddedBatchPlan, RefusesLengthsThatCannotBe) {
  const Case test = parity::parse_case("causal/P2/b2/s8/hq2/hkv2/d8/float32");
  const auto refusal = [&](Lengths lengths, const Mask& mask) {
    const auto said = on_every_rank(2, [&](Communicator& comm) -> std::string {
      try {
        ContextParallel::Options parts = parity::options_of(test);
        parts.plan.lengths = lengths;
        parts.plan.scores.mask = mask;
        ContextParallel attention(comm, parts);
        attention.forward(at::zeros({2, 2, 4, 8}), at::zeros({2, 2, 4, 8}), at::zeros({2, 2, 4, 8}));
      } catch (const std::invalid_argument& error) {
        return error.what();
      }
      return "";
    });
    EXPECT_EQ(said[0], said[1]);
    return said[0];
  };
  const Mask causal{Causal{}, 8};
  EXPECT_EQ(refusal({8, 0}, causal), "");
  EXPECT_THAT(refusal({8, 4, 2}, causal), ::testing::HasSubstr("3 entries, the batch has 2"));
  EXPECT_THAT(refusal({9, 8}, causal), ::testing::HasSubstr("give 0 to 8"));
  EXPECT_THAT(refusal({8, -1}, causal), ::testing::HasSubstr("length -1"));
  EXPECT_THAT(refusal({8, 4}, {DocumentCausal{{{4, 4}, {4, 4}}}, 8}),
              ::testing::HasSubstr("packed documents"));
}

// A batch that was taken says nothing of another one.
TEST(PaddedBatchPlan, RefusesAnotherBatchAfterOneThatItTook) {
  const Case test = parity::parse_case("causal/P2/lengths:8+5/hq2/hkv2/s8/d8/float32");
  for (const int64_t batch : {1, 3})
    on_every_rank(2, [&](Communicator& comm) {
      ContextParallel attention(comm, parity::options_of(test));
      const auto forward = [&](int64_t entries) {
        const at::Tensor x = at::zeros({entries, 2, 4, 8});
        attention.forward(x, x, x);
      };
      forward(2);
      EXPECT_THROW(forward(batch), std::invalid_argument) << batch << " entries";
      forward(2);
      return 0;
    });
}

}  // namespace
}  // namespace ringcheck
