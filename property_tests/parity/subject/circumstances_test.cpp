// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Oracles that change not what a subject computes but under which circumstances, and those of
// rotated q and k: for each of them a subject that gives itself away, and ours, which does not.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "parity/faults/decorators/subject.h"
#include "parity/judge/runner.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::RankInput;
using parity::RankOutput;
using parity::Status;

using Spoil = std::function<void(Communicator&, const Case&, const RankInput&, RankOutput&)>;
const Spoil kNothing = [](auto&&...) {};

parity::OracleVerdict judged_in(const Case& test, const std::string& oracle,
                                const parity::SharedSubject& subject) {
  parity::RunOptions options;
  options.judging.oracles = {oracle};
  options.subject = subject;
  const parity::Verdict verdict = parity::verify(test, options);
  if (verdict.oracles.empty()) throw std::runtime_error(verdict.reason);
  return verdict.oracles.front();
}

parity::OracleVerdict judged(const std::string& oracle, const std::string& text,
                             const parity::SharedSubject& subject) {
  return judged_in(parity::parse_case("ring:p2p/headtail/b2/hq4/hkv2/s40/d8/dv12/" + text), oracle,
                   subject);
}

parity::SharedSubject spoilt(const Spoil& spoil, std::function<void(parity::Promise&)> promise = {}) {
  return parity::ours_with([spoil](Communicator& comm, const Case& test, const RankInput& input) {
    RankOutput output = parity::context_parallel(comm, test, input);
    spoil(comm, test, input, output);
    return output;
  }, std::move(promise));
}

Status status(const std::string& oracle, const std::string& text, const Spoil& spoil) {
  return judged(oracle, text, spoilt(spoil)).status;
}

constexpr const char* kCases[] = {"causal/float64/P1", "full/float32/P2", "causal/bf16/P3",
                                  "window[9]/fp16/P5", "doc[17,23]/bf16/P8"};

std::string with_rope(const std::string& text) { return text + "/rope:interleaved[10000]"; }

// In packed documents positions do not shift.
Status of_ours(const std::string& oracle, const std::string& text) {
  return oracle == "position-shift" && text.starts_with("doc") ? Status::kNotApplicable
                                                               : Status::kPass;
}

TEST(Circumstances, OursPasses) {
  for (const char* text : kCases)
    for (const char* oracle : {"repetition", "run-to-run", "larger-batch", "poison", "saved-state",
                               "allocation-history", "leak", "splitting", "position-shift"})
      EXPECT_EQ(status(oracle, text, kNothing), of_ours(oracle, text)) << oracle << " " << text;
}

TEST(Rotated, OursPasses) {
  for (const char* text : kCases)
    for (const char* oracle :
         {"rope-shards", "rope-norms", "position-shift", "splitting", "larger-batch"})
      EXPECT_EQ(status(oracle, with_rope(text), kNothing), of_ours(oracle, text))
          << oracle << " " << text;
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
    output.solved_meanwhile = true;
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
  const Spoil cannot = [](auto&, auto&, auto&, RankOutput& o) { o.solved_meanwhile = false; };
  const auto broken = judged("saved-state", kCases[2], spoilt(cannot));
  EXPECT_EQ(broken.status, Status::kFail);
  EXPECT_THAT(broken.findings, testing::Contains(testing::HasSubstr("one by one")));
  const auto said = judged("saved-state", kCases[2], spoilt(cannot, [](parity::Promise& promise) {
    promise.separate_passes = false;
  }));
  EXPECT_EQ(said.status, Status::kNotApplicable);
  EXPECT_THAT(said.findings, testing::ElementsAre(testing::HasSubstr("one by one")));
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

TEST(Leak, RejectsWhatEveryCallLeavesBehind) {
  std::mutex mutex;
  std::vector<at::Tensor> kept;
  const Spoil keeps = [&](Communicator& comm, auto&, auto&, RankOutput& o) {
    const std::lock_guard lock(mutex);
    if (comm.rank() == comm.size() - 1) kept.push_back(o.dk.clone());
  };
  for (const char* text : kCases) {
    const auto verdict = judged("leak", text, spoilt(keeps));
    EXPECT_EQ(verdict.status, Status::kFail) << text;
    EXPECT_TRUE(verdict.contract);
    EXPECT_THAT(verdict.findings, testing::ElementsAre(testing::HasSubstr("bytes more")));
  }
}

// A buffer that the first call makes and keeps is no leak.
TEST(Leak, AcceptsWhatIsKeptOnce) {
  std::mutex mutex;
  std::map<int, at::Tensor> kept;
  EXPECT_EQ(status("leak", kCases[2],
                   [&](Communicator& comm, auto&, auto&, RankOutput& o) {
                     const std::lock_guard lock(mutex);
                     if (!kept.contains(comm.rank())) kept[comm.rank()] = o.dk.clone();
                   }),
            Status::kPass);
}

parity::OracleVerdict memory_growth(const std::string& text, const parity::SharedSubject& subject) {
  return judged_in(parity::parse_case("ring:" + text), "memory-growth", subject);
}

// The partial results of all steps, kept until the end: twice as many for twice as many ranks.
TEST(MemoryGrowth, RejectsWhatGrowsWithTheRanks) {
  const auto keeps_all = [](const Case&) {
    return [kept = std::vector<Partial>()](const Partial& a, const Partial& b) mutable {
      kept.push_back(b);
      return merge(a, b);
    };
  };
  for (const char* text : {"p2p/headtail/plain/causal/P8/b2/hq4/hkv2/s1024/d8/bf16",
                           "p2p/headtail/flash/causal/P8/b2/hq4/hkv2/s1024/d8/bf16"}) {
    const auto verdict = memory_growth(text, parity::with_merge(keeps_all));
    EXPECT_EQ(verdict.status, Status::kFail) << text;
    EXPECT_TRUE(verdict.contract);
    EXPECT_THAT(verdict.findings, testing::ElementsAre(testing::HasSubstr("on 8 ranks")));
  }
}

TEST(MemoryGrowth, OursPassesInEveryRotation) {
  for (const char* rotation : {"p2p", "alltoall", "allgather", "allgather[keep]"})
    for (const char* rest : {"/headtail/plain/full/P8/b2/hq4/hkv2/s1024/d8/bf16",
                             "/striped[2]/plain/causal/P8/hq2/hkv1/s512/d16/float64",
                             "/contiguous/flash/causal/P16/hq2/hkv1/s512/d16/fp16"})
      EXPECT_EQ(memory_growth(rotation + std::string(rest), spoilt(kNothing)).status, Status::kPass)
          << rotation << rest;
}

TEST(Leak, SaysThatOtherThreadsAreUnseen) {
  const parity::SharedSubject elsewhere = parity::ours_with([](Communicator& comm, const Case& test,
                                        const RankInput& input) {
    RankOutput output;
    std::jthread([&] { output = parity::context_parallel(comm, test, input); }).join();
    return output;
  });
  const auto verdict = judged("leak", kCases[0], elsewhere);
  EXPECT_EQ(verdict.status, Status::kNotApplicable);
  EXPECT_THAT(verdict.findings, testing::ElementsAre(testing::HasSubstr("other threads")));
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

// Positions that count from the beginning of the shard.
TEST(RopeShards, RejectsLocalPositions) {
  for (const char* text : {kCases[1], kCases[2], kCases[3], kCases[4]}) {
    const Spoil local = [](Communicator& comm, const Case&, const RankInput&, RankOutput& o) {
      if (comm.size() > 1) o.q_rotated = o.q_rotated.roll(1, 2);
    };
    EXPECT_EQ(status("rope-shards", with_rope(text), local), Status::kFail) << text;
  }
}

// A query turned by something else than its position: scores are no function of distances.
TEST(PositionShift, RejectsPositionsThatCountDifferently) {
  const parity::SharedSubject squeezed = parity::ours_with([](Communicator& comm, const Case& test,
                                       const RankInput& input) {
    auto parts = parity::options_of(test);
    parts.rotate = [](const at::Tensor& x, const Rope& rope, const Mask& mask,
                      const Positions& own) {
      std::vector<Span> other;
      for (const int64_t p : flatten(own)) other.push_back({p / 2 * 3, 1});
      return rotate(x, rope, mask, other);
    };
    return parity::context_parallel_with(parts, comm, test, input);
  });
  for (const char* text : {kCases[0], kCases[1], kCases[2], kCases[3]})
    EXPECT_EQ(judged("position-shift", with_rope(text), squeezed).status, Status::kFail) << text;
}

TEST(RopeNorms, RejectsOtherPairsAndOtherStarts) {
  const Spoil larger = [](auto&, auto&, auto&, RankOutput& o) {
    o.k_rotated.select(3, 0).mul_(1.1);
  };
  const Spoil turned = [](auto&, auto&, const RankInput& input, RankOutput& o) {
    const at::Tensor& x = input.local.q;  // by a quarter turn everywhere
    const at::Tensor even = x.slice(3, 0, std::nullopt, 2), odd = x.slice(3, 1, std::nullopt, 2);
    o.q_rotated = at::stack({odd.neg(), even}, 4).flatten(3).nan_to_num(0);
  };
  for (const char* text : kCases) {
    EXPECT_EQ(status("rope-norms", with_rope(text), larger), Status::kFail) << text;
    EXPECT_EQ(status("rope-norms", with_rope(text), turned), Status::kFail) << text;
  }
}

// R5: gradients that are turned on instead of back.
TEST(Rotated, ConservationRejectsAGradientThatIsTurnedTheWrongWay) {
  const parity::SharedSubject wrong = parity::ours_with([](Communicator& comm, const Case& test, const RankInput& input) {
    auto parts = parity::options_of(test);
    parts.rotate_back = rotate;
    return parity::context_parallel_with(parts, comm, test, input);
  });
  for (const char* text : kCases)
    EXPECT_EQ(judged("conservation", with_rope(text), wrong).status, Status::kFail) << text;
}

}  // namespace
}  // namespace ringcheck
