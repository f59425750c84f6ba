// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What a subject holds after a call, and with more ranks: subjects that hold too much, and ours.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "parity/faults/decorators/subject.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/subject/circumstances.h"

namespace ringcheck {
namespace {

using namespace circumstances;

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

TEST(Autograd, WhatOutlivesACallBreaksAPromiseAndNoResult) {
  std::mutex mutex;
  std::vector<at::Tensor> kept;
  const Spoil keeps = [&](auto&, auto&, const RankInput& input, RankOutput& o) {
    const std::lock_guard lock(mutex);
    if (input.by_autograd) kept.push_back(o.dk.clone());
  };
  for (const char* text : kCases) {
    const auto verdict = judged("autograd", text, spoilt(keeps));
    EXPECT_EQ(verdict.status, Status::kFail) << text;
    EXPECT_TRUE(verdict.contract);
    EXPECT_THAT(verdict.findings, testing::Each(testing::HasSubstr("bytes more")));
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

}  // namespace
}  // namespace ringcheck
