// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cp/attention/by_name.h"
#include "cp/layout/balancer.h"
#include "property_tests/cp/attention/passes.h"

// What cannot be computed is refused with std::invalid_argument on every rank, before anything is
// sent.
namespace ringcheck {
namespace {

parity::Case small() {
  parity::Case test;
  test.world = 3;
  test.seq = 12;
  test.dim = test.dim_v = 4;
  test.q_heads = 4;
  test.kv_heads = 2;
  test.dtype = at::kFloat;
  return test;
}

// The message of the refusal, the same on all ranks; "" where nothing was refused.
std::string refusal(const parity::Case& test, const std::function<void(Communicator&)>& use) {
  const auto messages = on_every_rank(test.world, [&](Communicator& comm) -> std::string {
    try {
      use(comm);
    } catch (const std::invalid_argument& error) {
      EXPECT_TRUE(comm.ledger().transfers().empty());
      return error.what();
    }
    return "";
  });
  for (const std::string& message : messages)
    EXPECT_EQ(message, messages[0]);
  return messages[0];
}

std::string forward_refusal(const parity::Case& test, at::IntArrayRef q, at::IntArrayRef k,
                            at::IntArrayRef v) {
  return refusal(test, [&](Communicator& comm) {
    ContextParallel attention(comm, parity::options_of(test));
    attention.forward(at::zeros(q, test.dtype), at::zeros(k, test.dtype), at::zeros(v, test.dtype));
  });
}

TEST(Refusals, ShapesThatDisagreeAreRefused) {
  const parity::Case test = small();
  EXPECT_EQ(forward_refusal(test, {1, 4, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 4}), "");
  EXPECT_EQ(forward_refusal(test, {1, 4, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 7}), "");
  const struct {
    std::vector<int64_t> q, k, v;
    const char* says;
  } wrong[] = {{{1, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 4}, "[batch, heads, seq, dim]"},
               {{1, 4, 4, 4}, {1, 2, 4, 4}, {2, 4, 4}, "[batch, heads, seq, dim]"},
               {{2, 4, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 4}, "batch"},
               {{1, 4, 4, 4}, {1, 2, 4, 4}, {2, 2, 4, 4}, "batch"},
               {{1, 4, 4, 4}, {1, 2, 4, 4}, {1, 4, 4, 4}, "same heads"},
               {{1, 5, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 4}, "multiple"},
               {{1, 1, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 4}, "multiple"},
               {{1, 4, 4, 4}, {1, 2, 4, 6}, {1, 2, 4, 4}, "same dim"},
               {{1, 4, 12, 4}, {1, 2, 12, 4}, {1, 2, 12, 4}, "slots"},
               {{1, 4, 4, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}, "slots"},
               {{1, 4, 4, 4}, {1, 2, 4, 4}, {1, 2, 3, 4}, "slots"}};
  for (const auto& w : wrong)
    EXPECT_THAT(forward_refusal(test, w.q, w.k, w.v), testing::HasSubstr(w.says))
        << at::IntArrayRef(w.q);
}

TEST(Refusals, MixedDtypesAreRefused) {
  for (const int which : {0, 1, 2}) {
    const std::string message = refusal(small(), [&](Communicator& comm) {
      std::vector<at::Tensor> x{at::zeros({1, 4, 4, 4}), at::zeros({1, 2, 4, 4}),
                                at::zeros({1, 2, 4, 4})};
      x[which] = x[which].to(at::kDouble);
      ContextParallel(comm, parity::options_of(small())).forward(x[0], x[1], x[2]);
    });
    EXPECT_THAT(message, testing::HasSubstr("dtype"));
  }
}

TEST(Refusals, IntegersAreRefusedByEveryKernel) {
  for (const auto& [name, kernel] : AttentionKernels::all()) {
    parity::Case test = small();
    test.kernel = name;
    test.dtype = at::kInt;
    EXPECT_THAT(forward_refusal(test, {1, 4, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 4}),
                testing::HasSubstr(name));
  }
}

TEST(Refusals, AKernelsRefusalIsPassedOn) {
  parity::Case test = small();
  test.kernel = "flash";
  EXPECT_THAT(forward_refusal(test, {1, 4, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 7}),
              testing::HasSubstr("dim_v"));
}

// What was accepted once says nothing of other tensors, whatever they differ in.
TEST(Refusals, WhatIsRememberedIsOfTheSameTensorsAlone) {
  const auto after_accepted = [](const parity::Case& test, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    return on_every_rank(test.world, [&](Communicator& comm) -> std::string {
      ContextParallel attention(comm, parity::options_of(test));
      const at::Tensor accepted = at::zeros({1, 6, 4, 4});
      attention.forward(accepted, accepted, accepted);
      try {
        attention.forward(q, k, v);
      } catch (const std::invalid_argument& error) {
        return error.what();
      }
      return "";
    }).front();
  };
  parity::Case flash = small(), heads = small();
  flash.kernel = "flash";
  heads.strategy = "ulysses";
  heads.arguments = "";
  flash.q_heads = flash.kv_heads = heads.q_heads = heads.kv_heads = 6;
  const at::Tensor six = at::zeros({1, 6, 4, 4}), two = at::zeros({1, 2, 4, 4}), longer = at::zeros({1, 6, 4, 7});
  EXPECT_THAT(after_accepted(flash, six, six, longer), testing::HasSubstr("dim_v"));
  EXPECT_THAT(after_accepted(flash, six.to(at::kInt), six.to(at::kInt), six.to(at::kInt)), testing::HasSubstr("flash"));
  EXPECT_THAT(after_accepted(heads, six, two, two), testing::HasSubstr("kv-heads 2"));
  EXPECT_THAT(after_accepted(heads, two, two, two), testing::HasSubstr("heads 2"));
}

TEST(Refusals, RopeOfAnOddDimIsRefused) {
  parity::Case test = small();
  test.rope.pairing = Rope::Pairing::kHalf;
  EXPECT_THAT(forward_refusal(test, {1, 4, 4, 3}, {1, 2, 4, 3}, {1, 2, 4, 3}),
              testing::HasSubstr("even"));
}

TEST(Refusals, KeepingWhatIsNeverGatheredIsRefused) {
  int refused = 0;
  for (const auto& [name, rotation] : Rotations::all()) {
    parity::Case test = small();
    test.arguments = ":" + name + "[keep]";
    const std::string message = forward_refusal(test, {1, 4, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 4});
    EXPECT_EQ(message.empty(), rotation.can_keep) << name << ": " << message;
    refused += !message.empty();
  }
  EXPECT_GE(refused, 2);
}

TEST(Refusals, ALayoutOfAnotherWorldIsRefused) {
  parity::Case other = small();
  other.world = 4;
  const std::string message =
      refusal(small(), [&](Communicator& comm) { ContextParallel(comm, parity::options_of(other)); });
  EXPECT_THAT(message, testing::HasSubstr("4 ranks"));
}

TEST(Refusals, AGradientUnlikeTheOutputIsRefused) {
  const parity::Case test = small();
  for (const bool shape : {true, false}) {
    const auto refused = on_every_rank(test.world, [&](Communicator& comm) {
      ContextParallel attention(comm, parity::options_of(test));
      const at::Tensor q = at::zeros({1, 4, 4, 4}), kv = at::zeros({1, 2, 4, 4});
      auto context = attention.forward(q, kv, kv);
      const size_t before = comm.ledger().transfers().size();
      try {
        attention.backward(context, shape ? at::zeros({1, 4, 4, 5}) : q.to(at::kDouble));
      } catch (const std::invalid_argument&) {
        return comm.ledger().transfers().size() == before ? 1 : 2;
      }
      return 0;
    });
    EXPECT_EQ(refused, std::vector<int>(test.world, 1)) << (shape ? "shape" : "dtype");
  }
}

TEST(Refusals, UnknownNamesSayWhatIsKnown) {
  parity::Case test = small();
  test.strategy = "spiral";
  try {
    parity::options_of(test);
    FAIL() << "a strategy of no name";
  } catch (const std::out_of_range& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("spiral"), testing::HasSubstr("known: ")));
  }
  test = small();
  test.arguments = ":spiral";
  EXPECT_THAT(forward_refusal(test, {1, 4, 4, 4}, {1, 2, 4, 4}, {1, 2, 4, 4}),
              testing::AllOf(testing::HasSubstr("spiral"), testing::HasSubstr("p2p")));
}

// What names make is what their parts make: every one of them is passed on.
TEST(ByName, IsWhatItsPartsMake) {
  const Scores scores{{Causal{}, 24}, 0.5};
  for (const auto& [name, balancer] : Balancers::all())
    for (const int64_t block : {1, 3}) {
      const Names names{"ring:allgather[keep]", name, block, "plain"};
      const ContextParallel::Options made = by_name(names, scores, 2);
      EXPECT_EQ(made.plan.layout.queries, layout_of(balancer, {scores.mask, block}, 2).queries) << name;
      EXPECT_EQ(made.plan.layout.keys, layout_of(balancer, {scores.mask, block}, 2).keys) << name;
      EXPECT_EQ(made.plan.arguments, ":allgather[keep]");
      EXPECT_EQ(made.plan.kernel, AttentionKernels::at("plain"));
      EXPECT_TRUE(made.plan.scores.mask == scores.mask);
      EXPECT_EQ(made.plan.scores.scale, 0.5);
    }
  EXPECT_NE(by_name({"ring", "striped", 1, "plain"}, scores, 2).plan.layout.queries,
            by_name({"ring", "striped", 3, "plain"}, scores, 2).plan.layout.queries);
}

}  // namespace
}  // namespace ringcheck
