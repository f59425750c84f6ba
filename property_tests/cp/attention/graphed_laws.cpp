// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/graphed.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "parity/case/text.h"
#include "parity/judge/runner.h"
#include "parity/subject/graphed.h"
#include "property_tests/cp/attention/passes.h"

// Ranks of processes: communicator laws of a transport (gpu_transport_test).
namespace ringcheck {
namespace {

TEST(Graphed, SaysWhereNoGraphCanHoldAPass) {
  for (const int size : {1, 2}) {
    const auto reasons = on_every_rank(size, [](Communicator& comm) { return Graphed::refuses(comm, {}).value_or(""); });
    for (const std::string& reason : reasons)
      if (test_device().is_cpu()) EXPECT_NE(reason.find("computed on cpu; use device cuda"), std::string::npos) << reason;
      else EXPECT_EQ(reason.find("meet on their hosts") != std::string::npos, size > 1) << reason;
  }
}

TEST(Graphed, LeavesARotaryEmbeddingToItsCaller) {
  if (test_device().is_cpu()) GTEST_SKIP() << "graphs are of GPUs";
  const auto reasons = on_every_rank(1, [](Communicator& comm) {
    Rope rope;
    rope.pairing = Rope::Pairing::kHalf;
    return Graphed::refuses(comm, rope).value_or("");
  });
  EXPECT_NE(reasons.front().find("rotate q and k before"), std::string::npos) << reasons.front();
}

TEST(Graphed, IsRefusedBeforeAnythingIsQueued) {
  on_every_rank(2, [](Communicator& comm) {
    const parity::Case test = parity::parse_case("ring:p2p/headtail/plain/causal/P2/hq2/hkv2/s32/d16/float32");
    const at::Tensor x = at::zeros({1, 2, 16, 16}, at::TensorOptions(comm.device()));
    ContextParallel attention(comm, parity::options_of(test));
    EXPECT_THROW(Graphed(attention, x, x, x, x), std::invalid_argument);
    return comm.ledger().transfers().size() == 0;
  });
}

// By an error of the work's own, and by waiting for the device, which no graph holds: what LibTorch's allocator
// gives back it could not while a graph is made.
TEST(Graphed, WhatCannotBeKeptLeavesTheDeviceAsItWas) {
  if (test_device().is_cpu()) GTEST_SKIP() << "graphs are of GPUs";
  on_every_rank(1, [](Communicator& comm) {
    const auto& kept = DeviceGraphs::all().at("cuda");
    const at::Tensor x = at::ones({1024}, at::TensorOptions(comm.device()));
    at::Tensor y;
    EXPECT_THROW(kept([&] { y = x + 1; throw std::logic_error("of the work"); }), std::logic_error);
    EXPECT_NO_THROW(at::getDeviceAllocator(at::kCUDA)->emptyCache({0, 0}));
    EXPECT_THROW(kept([&] { y = x + 1; (void)y[0].item<float>(); }), std::exception);
    EXPECT_NO_THROW(at::getDeviceAllocator(at::kCUDA)->emptyCache({0, 0}));
    EXPECT_EQ((x + 2).sum().item<float>(), 3 * 1024);
    const auto graph = kept([&] { y = x + 1; });
    graph->replay();
    EXPECT_EQ(y.sum().item<float>(), 2 * 1024);
    return true;
  });
}

// Replayed over other numbers than it was made of, with gradients and LSE, by float64.
TEST(Graphed, AReplayAttendsWhatTheTensorsHoldThen) {
  if (test_device().is_cpu()) GTEST_SKIP() << "graphs are of GPUs";
  for (const char* kernel : {"tiled/causal/thread/cuda/P1/hq4/hkv2/s256/d32/float32", "wgmma/causal/thread/cuda/P1/hq4/hkv2/s512/d64/bf16",
                             "cudnn/full/thread/cuda/P1/hq4/hkv4/s512/d64/bf16", "cudnn-atomic/causal/thread/cuda/P1/hq4/hkv4/s1K/d128/fp16"}) {
    const parity::Case test = parity::parse_case(std::string("ring:p2p/headtail/") + kernel);
    parity::RunOptions options;
    options.subject = parity::graphed();
    const parity::Verdict verdict = parity::verify(test, options);
    EXPECT_EQ(verdict.status, parity::Status::kPass) << parity::to_text(test) << ": " << verdict.reason;
  }
}

}  // namespace
}  // namespace ringcheck
