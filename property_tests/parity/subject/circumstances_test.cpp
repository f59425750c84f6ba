// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Oracles that change not what a subject computes but under which circumstances: for each of them a
// subject that gives itself away, and ours, which does not.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <set>
#include <thread>

#include "cp/clock.h"
#include "parity/faults/decorators/subject.h"
#include "parity/judge/oracle.h"
#include "parity/judge/runner.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/parity/subject/circumstances.h"

namespace ringcheck {
namespace {

using namespace circumstances;

TEST(Circumstances, OursPasses) {
  for (const char* text : kCases)
    for (const char* oracle : {"repetition", "run-to-run", "larger-batch", "poison", "saved-state",
                               "allocation-history", "leak", "splitting", "position-shift", "autograd",
                               "groups", "layouts"})
      EXPECT_EQ(status(oracle, text, kNothing), of_ours(oracle, text)) << oracle << " " << text;
}

// A rank that moves nothing, and says when a message would be delayed.
class Standing final : public Communicator {
 public:
  Standing(int size, int rank)
      : Communicator(Group::everybody(size, rank), std::make_shared<Ledger>(), std::chrono::seconds(1)) {}
  using Communicator::delay;
  void finish() override {}
  std::unique_ptr<Communicator> over(Group) override { return nullptr; }

 private:
  Pending carry(Request) override { return {}; }
};

// How long each message of a rank is delayed, in seconds: whatever else the machine does, the least of
// some tries.
std::vector<double> delays_of(const Case& test, int rank) {
  std::vector<double> least(32, 1);
  for (int attempt = 0; attempt < 5; ++attempt) {
    Standing comm(test.world, rank);
    const auto delayed = parity::Oracles::at("delays").variations(test).front().surroundings(comm, test);
    for (double& seconds : least) {
      const auto begin = Clock::now();
      comm.delay();
      seconds = std::min(seconds, seconds_since(begin));
    }
  }
  return least;
}

constexpr double kLong = 1e-4;  // seconds; two of three delays last longer

// Ranks that are delayed alike come in the same order as without a delay.
TEST(Delays, AreOthersOnEachRank) {
  const Case test = parity::parse_case("ring:p2p/P3/s12");
  for (int rank = 0; rank < test.world; ++rank) {
    const std::vector<double> here = delays_of(test, rank), there = delays_of(test, (rank + 1) % test.world);
    EXPECT_GT(std::ranges::max(here), kLong);
    int apart = 0;
    for (size_t message = 0; message < here.size(); ++message)
      apart += std::abs(here[message] - there[message]) > kLong / 2;
    EXPECT_GT(apart, std::ssize(here) / 4) << "ranks " << rank << " and " << (rank + 1) % test.world;
  }
}

// A row that is never written.
TEST(Poison, RejectsWhatIsNotInitialised) {
  const Spoil forgets = [](Communicator&, const Case&, const RankInput&, RankOutput& o) {
    const at::Tensor result = at::empty_like(o.dv);
    const int64_t rows = result.size(2) - 1;
    result.narrow(2, 0, rows).copy_(o.dv.narrow(2, 0, rows));
    o.dv = result;
  };
  for (const char* text : kCases) EXPECT_EQ(status("poison", text, forgets), Status::kFail) << text;
}

// On every rank, whatever was there before.
TEST(Poison, FillsWhatIsAllocatedWithoutAValue) {
  const Case test = parity::parse_case("ring:p2p/P2/s12");
  const std::vector<parity::Run> runs = parity::Oracles::at("poison").variations(test);
  ASSERT_EQ(runs.size(), 2U);
  const auto numbers = on_every_rank(test.world, [&](Communicator& comm) {
    const auto setting = runs[1].surroundings(comm, test);
    at::Tensor memory = at::ones({1000}, at::kFloat);
    memory.reset();
    memory = at::empty({1000}, at::kFloat);
    comm.agree_max(int64_t{0});  // the setting of rank 0 is that of all
    return memory.isnan().logical_not().sum().item<int64_t>();
  });
  EXPECT_THAT(numbers, testing::Each(0));
}

TEST(Poison, LeavesTheSettingsAsTheyWere) {
  const at::Context& context = at::globalContext();
  const auto now = [&] {
    return std::tuple(context.deterministicAlgorithms(), context.deterministicAlgorithmsWarnOnly(),
                      context.deterministicFillUninitializedMemory());
  };
  const auto before = now();
  EXPECT_EQ(status("poison", kCases[2], kNothing), Status::kPass);
  EXPECT_EQ(now(), before);
}

// All contexts share one buffer of K and V, as one that is kept for good would be.
TEST(SavedState, RejectsASharedBuffer) {
  const parity::SharedSubject shares = parity::ours_with([](Communicator& comm, const Case& test, const RankInput& input) {
    ContextParallel attention(comm, parity::options_of(test));
    const auto forward = [&](const parity::Problem& p) { return attention.forward(p.q, p.k, p.v); };
    auto context = forward(input.local);
    if (input.meanwhile) context.kv = forward(*input.meanwhile).kv;
    const Gradients g = attention.backward(context, input.local.d_o);
    RankOutput output{context.o, context.lse, g.dq, g.dk, g.dv, {}, {}, {}};
    output.did_as_asked = true;
    return output;
  });
  for (const char* text : kCases)
    EXPECT_EQ(judged("saved-state", text, shares).status, Status::kFail) << text;
}

// Adds dK to a buffer that nobody clears.
class AddsUp final : public Strategy {
 public:
  explicit AddsUp(std::unique_ptr<Strategy> strategy) : strategy_(std::move(strategy)) {}
  Partial forward(const QBlock& q, const KvBlock& own) override {
    return strategy_->forward(q, own);
  }
  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    Gradients g = strategy_->backward(q, own, saved);
    sum_ = sum_.defined() ? sum_ + g.dk : g.dk;
    return {g.dq, sum_, g.dv};
  }

 private:
  std::unique_ptr<Strategy> strategy_;
  at::Tensor sum_;
};

TEST(SavedState, RejectsGradientsThatAddUp) {
  const auto adds = parity::with_parts([](parity::Parts& parts, Communicator&, const Case&) {
    parts.strategy.make = [make = parts.strategy.make](Communicator& comm, const Plan& plan) {
      return std::make_unique<AddsUp>(make(comm, plan));
    };
  });
  for (const char* text : kCases)
    EXPECT_EQ(judged("saved-state", text, adds).status, Status::kFail) << text;
}

// Passes that cannot be called one by one are no failure where that was never promised, and one where
// it was.
TEST(SavedState, HoldsTheSubjectToItsPromise) {
  const Spoil cannot = [](auto&, auto&, auto&, RankOutput& o) { o.did_as_asked = false; };
  const auto broken = judged("saved-state", kCases[2], spoilt(cannot));
  EXPECT_EQ(broken.status, Status::kFail);
  EXPECT_THAT(broken.findings, testing::Contains(testing::HasSubstr("one by one")));
  const auto said = judged("saved-state", kCases[2], spoilt(cannot, [](parity::Promise& promise) {
    promise.separate_passes = false;
  }));
  EXPECT_EQ(said.status, Status::kNotApplicable);
  EXPECT_THAT(said.findings, testing::ElementsAre(testing::HasSubstr("one by one")));
}

// A subject that cannot cut queries and keys as it is told does not promise it.
TEST(Layouts, HoldsTheSubjectToItsPromise) {
  const Spoil cannot = [](auto&, auto&, auto&, RankOutput& o) { o.did_as_asked = false; };
  const auto broken = judged("layouts", kCases[2], spoilt(cannot));
  EXPECT_EQ(broken.status, Status::kFail);
  EXPECT_THAT(broken.findings, testing::Contains(testing::HasSubstr("did not do it")));
  const auto said = judged("layouts", kCases[2], spoilt(cannot, [](parity::Promise& promise) {
    promise.any_layout = false;
  }));
  EXPECT_EQ(said.status, Status::kNotApplicable);
}

// dK and dV of a rank are those of its keys, not of its queries.
TEST(Layouts, RejectsGradientsOfOtherTokens) {
  const Spoil by_queries = [](Communicator&, const Case&, const RankInput& input, RankOutput& o) {
    if (input.layout && input.layout->keys != input.layout->queries) o.dv = o.dv.flip(2);
  };
  EXPECT_EQ(status("layouts", kCases[2], by_queries), Status::kFail);
}

// An operation that was promised and is not there is a failure; one that was not promised is none.
TEST(Autograd, HoldsTheSubjectToItsPromise) {
  const Spoil cannot = [](auto&, auto&, auto&, RankOutput& o) { o.did_as_asked = false; };
  const auto broken = judged("autograd", kCases[2], spoilt(cannot));
  EXPECT_EQ(broken.status, Status::kFail);
  EXPECT_THAT(broken.findings, testing::Contains(testing::HasSubstr("not called as one")));
  const auto said = judged("autograd", kCases[2], spoilt(cannot, [](parity::Promise& promise) {
    promise.autograd = false;
  }));
  EXPECT_EQ(said.status, Status::kNotApplicable);
}

TEST(Autograd, RejectsOtherGradients) {
  const Spoil wrong = [](auto&, auto&, const RankInput& input, RankOutput& o) {
    if (input.by_autograd) o.dk.mul_(1.5);
  };
  for (const char* text : kCases) EXPECT_EQ(status("autograd", text, wrong), Status::kFail) << text;
}

// A relation between equal bits is nothing to a subject that does not promise them.
TEST(Repetition, IsNotAskedOfASubjectThatPromisesNoBits) {
  const auto verdict = judged("repetition", kCases[2], spoilt(kNothing, [](parity::Promise& promise) {
    promise.deterministic = false;
  }));
  EXPECT_EQ(verdict.status, Status::kNotApplicable);
  EXPECT_THAT(verdict.findings, testing::ElementsAre(testing::HasSubstr("the same bits")));
}

// What was computed before on the same communicators.
TEST(Repetition, RejectsAStateThatOutlivesACall) {
  std::mutex mutex;
  std::map<Ledger*, int> calls;
  const auto verdict = judged(
      "repetition", kCases[2], spoilt([&](Communicator& comm, auto&, auto&, RankOutput& o) {
        const std::lock_guard lock(mutex);
        if (++calls[&comm.ledger()] > 1) o.o.mul_(1.5);
      }));
  EXPECT_EQ(verdict.status, Status::kFail);
}

// Results depend on which groups there were before.
TEST(AllocationHistory, RejectsADependence) {
  for (const char* text : kCases)
    EXPECT_EQ(status("allocation-history", text,
                     [](Communicator& comm, auto&, auto&, RankOutput& o) {
                       o.lse.add_(*comm.group().last_id);
                     }),
              Status::kFail)
        << text;
}

// What leaks from a group into another one would be the same numbers otherwise.
TEST(Groups, TheGroupBesideHasOtherNumbers) {
  std::mutex mutex;
  std::set<double> sums;
  const Spoil adds_up = [&](auto&, auto&, const RankInput& input, auto&) {
    const std::lock_guard lock(mutex);
    sums.insert(input.local.v.to(at::kDouble).nan_to_num(0).sum().item<double>());
  };
  EXPECT_EQ(status("groups", "causal/float32/P4", adds_up), Status::kPass);
  EXPECT_TRUE(std::ranges::any_of(sums, [&](double sum) { return sum != 0 && sums.contains(-sum); }));
}

// Three runs a rank, which stripes are not.
TEST(Layouts, HaveRunsWithGapsOfUnlikeLengths) {
  std::atomic<int> unlike = 0;
  const Spoil looks = [&](auto&, auto&, const RankInput& input, auto&) {
    if (!input.layout) return;
    for (const Positions& shard : input.layout->queries)
      unlike += shard.size() == 3 && shard[1].begin - shard[0].begin != shard[2].begin - shard[1].begin;
  };
  EXPECT_EQ(status("layouts", "causal/float32/P4", looks), Status::kPass);
  EXPECT_GT(unlike, 0);
}

TEST(DeviceOrder, NeedsSeveralDevices) {
  const auto verdict = judged("device-order", kCases[2], spoilt(kNothing));
  EXPECT_EQ(verdict.status, Status::kNotApplicable);
  EXPECT_THAT(verdict.findings, testing::ElementsAre(testing::HasSubstr("several GPUs")));
}

// The number of distinct results, also where each of them is right.
TEST(RunToRun, CountsDistinctResults) {
  std::atomic<int> calls{0};
  const Spoil wobbles = [&](Communicator&, auto&, auto&, RankOutput& o) {
    if (calls++ % 2 == 1) o.dq.mul_(1 + 0x1p-23);
  };
  const auto verdict = judged("run-to-run", "causal/float32/P1", spoilt(wobbles));
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_THAT(verdict.findings, testing::ElementsAre("2 distinct results in 5 runs"));
}

TEST(LargerBatch, CountsOtherBits) {
  const auto verdict = judged("larger-batch", "causal/float32/P2",
                              spoilt([](auto&, const Case& c, auto&, RankOutput& o) {
                                if (c.batch == 3) o.o.mul_(1 + 0x1p-23);
                              }));
  EXPECT_EQ(verdict.status, Status::kPass);
  EXPECT_THAT(verdict.findings, testing::Contains(testing::HasSubstr("other bits")));
}

}  // namespace
}  // namespace ringcheck
