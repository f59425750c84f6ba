// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel may hand out its gradients in the dtype of q, as cuDNN's does: every strategy then holds no more than it said, and
// adds them up in the accumulation type.
#include <gtest/gtest.h>

#include "parity/judge/runner.h"
#include "property_tests/parity/subject/with_kernel.h"

namespace ringcheck {
namespace {

class Rounded final : public AttentionKernel {
 public:
  explicit Rounded(std::shared_ptr<const AttentionKernel> inner) : inner_(std::move(inner)) {}
  std::optional<std::string> refuses(const BlockShape& shape) const override { return inner_->refuses(shape); }
  Partial forward(const QBlock& q, const KvBlock& kv, const Scores& scores, const Visibility& visibility) const override {
    const Partial part = inner_->forward(q, kv, scores, visibility);
    return {part.out.to(q.q.scalar_type()), part.lse};
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Scores& scores,
                     const Visibility& visibility) const override {
    const Gradients term = inner_->backward(q, kv, saved, scores, visibility);
    const auto rounded = [&](const at::Tensor& x) { return x.to(q.q.scalar_type()); };
    return {rounded(term.dq), rounded(term.dk), rounded(term.dv)};
  }
  CallBytes call_bytes(const BlockShape& shape) const override {
    CallBytes bytes = inner_->call_bytes(shape);
    bytes.forward *= 2;
    bytes.backward *= 2;
    return bytes;
  }

 private:
  std::shared_ptr<const AttentionKernel> inner_;
};

std::string findings_of(const parity::Verdict& verdict) {
  std::string all = verdict.reason;
  for (const auto& oracle : verdict.oracles)
    for (const std::string& finding : oracle.findings) all += "\n" + oracle.name + ": " + finding;
  return all;
}

class RoundedGradients : public ::testing::TestWithParam<const char*> {};

TEST_P(RoundedGradients, AreHeldAndAddedUpAsTheStrategySays) {
  for (const char* const rest : {"striped[3]/full/thread/P6/b3/hq12/hkv6/s36/d64", "headtail/causal/thread/P3/b1/hq6/hkv3/s400/d32",
                                 "contiguous/causal/thread/P2/b2/lengths:90+200/hq4/hkv4/s200/d32"}) {
    const parity::Case test = parity::parse_case(std::string(GetParam()) + "/bf16/plain/" + rest);
    parity::RunOptions options;
    options.judging.oracles = {"counters", "parity"};
    options.subject = ours_with_kernel(
        [](const std::shared_ptr<const AttentionKernel>& own) { return std::make_shared<Rounded>(own); },
        [](parity::Promise& promise) { promise.contract.u_m = promise.contract.u_o; });
    const parity::Verdict verdict = parity::verify(test, options);
    EXPECT_EQ(verdict.status, parity::Status::kPass) << parity::to_text(test) << ": " << findings_of(verdict);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, RoundedGradients, ::testing::Values("gathered", "gathered[1]", "ring:p2p", "ring:allgather", "ulysses"));

}  // namespace
}  // namespace ringcheck
