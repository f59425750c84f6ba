// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that is called strip by strip and hands out gradients in 16 bits, as cuDNN's is, rounds that of a key once for each
// strip that sees it: among subnormal numbers its error is that of as many roundings.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parity/case/part.h"
#include "parity/judge/runner.h"
#include "property_tests/kernels/strip_library.h"
#include "property_tests/parity/subject/with_kernel.h"

namespace ringcheck {
namespace {

// In float32, its results rounded to the dtype.
class Rounding final : public StripLibrary {
 protected:
  Partial attend(const Call& call) const override {
    const Partial part = StripLibrary::attend(wide(call));
    return {part.out.to(call.q.scalar_type()), part.lse};
  }

  Gradients differentiate(const Call& all, const Saved& saved) const override {
    return by_members(all, saved, [&](const Call& call, const Saved& its, const at::Tensor& dq) {
      const Gradients term =
          StripLibrary::differentiate(wide(call), {its.o.to(at::kFloat), its.lse, its.d, its.d_o.to(at::kFloat)});
      const auto rounded = [&](const at::Tensor& x) { return x.to(call.q.scalar_type()); };
      return Gradients{dq.defined() ? dq.copy_(term.dq) : rounded(term.dq), rounded(term.dk), rounded(term.dv)};
    });
  }

 private:
  // With a key head for each query head.
  static Call wide(const Call& call) {
    const auto of_queries = [&](const at::Tensor& x) {
      return x.to(at::kFloat).repeat_interleave(call.q.size(1) / x.size(1), 1);
    };
    return {call.strip, call.scale, of_queries(call.q), of_queries(call.k), of_queries(call.v)};
  }
};

// By a subject that promises cuDNN's arithmetic, with as many partial gradients.
parity::OracleVerdict judged(const parity::Case& test, const parity::GradientPartials& gradient_partials) {
  parity::RunOptions options;
  options.judging.oracles = {"parity"};
  options.subject = ours_with_kernel(
      [](const auto&) { return std::make_shared<Rounding>(); },
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
