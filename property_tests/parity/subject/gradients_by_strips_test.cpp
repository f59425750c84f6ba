// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that is called strip by strip and hands out gradients in 16 bits, as cuDNN's is, rounds that of a key once for each
// strip that sees it: among subnormal numbers its error is that of as many roundings.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "kernels/strip_kernel.h"
#include "parity/case/part.h"
#include "parity/judge/runner.h"
#include "parity/subject/ours.h"

namespace ringcheck {
namespace {

// In float32, its results rounded to the dtype.
class Rounding final : public StripKernel {
 public:
  std::optional<std::string> refuses(const BlockShape&) const override { return std::nullopt; }

 protected:
  Partial attend(const Call& call) const override {
    const auto [q, k, v] = wide(call);
    const at::Tensor scores = scores_of(call, q, k), lse = scores.logsumexp(3);
    return {at::matmul((scores - lse.unsqueeze(3)).exp(), v).to(call.q.scalar_type()), lse};
  }

  Gradients differentiate(const Call& all, const Saved& saved) const override {
    return by_members(all, saved, [](const Call& call, const Saved& its) {
      const auto [q, k, v] = wide(call);
      const at::Tensor d_o = its.d_o.to(at::kFloat), p = (scores_of(call, q, k) - its.lse.unsqueeze(3)).exp();
      const at::Tensor ds = p * (at::matmul(d_o, v.mT()) - its.d.unsqueeze(3)) * call.scale;
      const auto rounded = [&](const at::Tensor& x) { return x.to(call.q.scalar_type()); };
      return Gradients{rounded(at::matmul(ds, k)), rounded(at::matmul(ds.mT(), q)), rounded(at::matmul(p.mT(), d_o))};
    });
  }

 private:
  struct Wide {
    at::Tensor q, k, v;
  };
  static Wide wide(const Call& call) {
    const auto of_queries = [&](const at::Tensor& x) {
      return x.to(at::kFloat).repeat_interleave(call.q.size(1) / x.size(1), 1);
    };
    return {of_queries(call.q), of_queries(call.k), of_queries(call.v)};
  }
  static at::Tensor scores_of(const Call& call, const at::Tensor& q, const at::Tensor& k) {
    const int64_t rows = call.strip.rows, columns = call.strip.columns;
    const at::Tensor column = at::arange(columns), last = at::arange(columns - rows, columns).unsqueeze(1);
    at::Tensor hidden = at::zeros({rows, columns}, at::kBool);
    if (call.strip.kind != Strip::Kind::kFull) hidden = column > last;
    if (call.strip.kind == Strip::Kind::kBand) hidden = hidden.logical_or(column <= last - call.strip.width);
    return (at::matmul(q, k.mT()) * call.scale).masked_fill(hidden, -INFINITY);
  }
};

// By a subject that promises cuDNN's arithmetic, with as many partial gradients.
parity::OracleVerdict judged(const parity::Case& test, const parity::GradientPartials& gradient_partials) {
  parity::RunOptions options;
  options.judging.oracles = {"parity"};
  options.subject = parity::ours_with(
      [](Communicator& comm, const parity::Case& each, const parity::RankInput& input) {
        ContextParallel::Options parts = parity::options_of(each);
        parts.plan.kernel = std::make_shared<Rounding>();
        return parity::context_parallel_with(parts, comm, each, input);
      },
      [&](parity::Promise& promise) {
        promise.contract = parity::contract_of(parity::with(test, [](parity::Case& c) { c.kernel = "cudnn"; }));
        promise.backward_contract.reset();
        promise.gradient_partials = gradient_partials;
      });
  const parity::Verdict verdict = parity::verify(test, options);
  return verdict.oracles.at(0);
}

std::string findings_of(const parity::OracleVerdict& verdict) {
  std::string all;
  for (const std::string& finding : verdict.findings) all += "\n" + finding;
  return all;
}

TEST(GradientsByStrips, AreRoundedOnceForEachStrip) {
  const parity::Case test = parity::parse_case(
      "ring:allgather/striped[3]/plain/causal/thread/P6/b1/hq4/hkv2/s900/d32/fp16/scale:0.001/flat/seed1");
  const parity::GradientPartials strips = parity::gradient_partials_of(parity::with(test, [](parity::Case& c) { c.kernel = "cudnn"; }));
  EXPECT_EQ(strips.dkv, 1 + 5 * 50) << "steps of three queries on each of the other ranks";
  const parity::OracleVerdict counted = judged(test, strips), by_rank = judged(test, {test.world, test.world});
  EXPECT_EQ(counted.status, parity::Status::kPass) << findings_of(counted);
  EXPECT_EQ(by_rank.status, parity::Status::kFail) << "one rounding a rank explains it, so that this shows nothing";
}

}  // namespace
}  // namespace ringcheck
