// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/oracles/exact_cases.h"
#include "property_tests/property.h"

// Exact oracles raise no alarm on what is right, for any rotation, balancer, mask, dtype, kernel
// and world.
namespace ringcheck {
namespace {

using parity::Status;

parity::OracleVerdict judged_by(const std::string& oracle, const parity::Case& test) {
  parity::RunOptions options;
  options.judging.oracles = {oracle};
  const parity::Verdict verdict = parity::verify(test, options);
  RC_LOG() << oracle << ": " << to_text(verdict.status) << " " << verdict.reason << std::endl;
  for (const parity::OracleVerdict& one : verdict.oracles)
    for (const std::string& finding : one.findings) RC_LOG() << finding << std::endl;
  RC_ASSERT(!verdict.oracles.empty());  // beside it rope, where q and k are rotated
  return verdict.oracles.front();
}

void passes(const std::string& oracle, const std::string& family) {
  const parity::Case test = *gen::exact_case(family).as("case");
  RC_ASSERT(judged_by(oracle, test).status == Status::kPass);
}

RC_GTEST_PROP(Census, PassesOnItsOwnData, ()) { passes("census", "census"); }
RC_GTEST_PROP(Census, PassesOnSnapData, ()) { passes("census", "snap"); }
RC_GTEST_PROP(Routing, PassesOnItsOwnData, ()) { passes("routing", "routing"); }
RC_GTEST_PROP(RoutingGradients, PassOnTheirOwnData, ()) { passes("routing-gradients", "routing"); }
RC_GTEST_PROP(Snap, PassesOnItsOwnData, ()) { passes("snap", "snap"); }
RC_GTEST_PROP(ConstantV, PassesOnItsOwnData, ()) { passes("constant-v", "ones"); }
RC_GTEST_PROP(EqualKeys, PassesOnItsOwnData, ()) { passes("equal-keys", "equal-keys"); }

// Where O is rounded to bf16, more than some hundred keys cannot be counted.
RC_GTEST_PROP(Ownership, PassesOnItsOwnData, ()) {
  const parity::Case test = *gen::exact_case("census").as("case");
  const Status status = judged_by("ownership", test).status;
  if (test.dtype == at::kBFloat16 && test.seq > 100)
    RC_ASSERT(status == Status::kPass || status == Status::kNotApplicable);
  else
    RC_ASSERT(status == Status::kPass);
}

// An oracle judges its own data only.
RC_GTEST_PROP(ExactOracles, SayNothingAboutOtherData, ()) {
  const parity::Case test = *gen::test_case().as("case");
  for (const ExactOracle& oracle : exact_oracles())
    RC_ASSERT(judged_by(oracle.name, test).status == Status::kNotApplicable);
}

parity::OracleVerdict judged(const char* oracle, const char* test) {
  parity::RunOptions options;
  options.judging.oracles = {oracle};
  return parity::verify(parity::parse_case(test), options).oracles.front();
}

// A number is right where some number within the error of the truth is rounded to it, and nowhere else:
// between 1 and its neighbours, in eighths of the distance to the next one.
TEST(ExactOracles, TakeWhatANumberWithinTheErrorIsRoundedTo) {
  const parity::Case test = parity::parse_case("P1/b1/hq1/hkv1/s1/d8");
  for (const auto& [dtype, next] : {std::pair(at::kBFloat16, 0x1p-7), {at::kHalf, 0x1p-10}}) {
    const auto number = [](double x) { return at::full({1, 1, 1}, x, at::kDouble); };
    const auto eighths = [&](int64_t n) { return number(1 + static_cast<double>(n) * next / 8); };
    const auto is_near = [&](int64_t truth, int64_t error, const at::Tensor& found) {
      for (int64_t n = truth - error; n <= truth + error; ++n)
        if (eighths(n).to(dtype).equal(found)) return true;
      return false;
    };
    for (int64_t truth = 0; truth <= 8; ++truth)
      for (int64_t error = 0; error <= 12; ++error)
        for (const int64_t place : {-16, -12, -8, -4, 0, 8, 16, 24}) {
          const at::Tensor found = eighths(place).to(dtype);
          const auto verdict = parity::compare_exact(test, "lse", found, eighths(truth),
                                                     number(static_cast<double>(error) * next / 8));
          EXPECT_EQ(verdict.status == Status::kPass, is_near(truth, error, found))
              << dtype << ": " << place << " eighths for " << truth << " +- " << error;
        }
  }
}

// Beyond what rounding leaves of a count, the verdict says that nothing was judged.
TEST(Ownership, SaysWhereItCannotCount) {
  const auto few = judged("ownership", "ring:p2p/full/P2/hq1/hkv1/s254/d4/bf16/census");
  EXPECT_EQ(few.status, Status::kPass);
  EXPECT_TRUE(few.findings.empty());
  const auto many = judged("ownership", "ring:p2p/full/P2/hq1/hkv1/s256/d4/bf16/census");
  EXPECT_EQ(many.status, Status::kNotApplicable);
  EXPECT_FALSE(many.findings.empty());
  EXPECT_EQ(judged("ownership", "ring:p2p/full/P2/hq1/hkv1/s2000/d4/fp16/census").status, Status::kPass);
  EXPECT_EQ(judged("ownership", "ring:p2p/full/P2/hq1/hkv1/s2048/d4/fp16/census").status,
            Status::kNotApplicable);
  // Under a causal mask the first queries see few keys.
  const auto some = judged("ownership", "ring:p2p/causal/P2/hq1/hkv1/s300/d4/bf16/census");
  EXPECT_EQ(some.status, Status::kPass);
  EXPECT_FALSE(some.findings.empty());
}

// A kernel whose partial results are in 16 bits rounds more than once where they are merged.
TEST(Snap, DoesNotJudgeWhatIsRoundedBeforeItIsMerged) {
  const std::string text = "ring:p2p/full/P3/hq2/hkv1/s64/d16/bf16/scale:0.25/snap/";
  EXPECT_EQ(judged("snap", (text + "flash").c_str()).status, Status::kNotApplicable);
  EXPECT_EQ(judged("snap", (text + "plain").c_str()).status, Status::kPass);
}

// What remains of a P of 1e-39 is nothing: within the bound, and no alarm of the 8 sigma either.
TEST(Extremes, AProbabilityThatUnderflowsIsNoAlarm) {
  EXPECT_EQ(judged("extremes", "ulysses/striped[1]/flash/docfull[1,1:2,2,2:3]/P7/b3/hq28/hkv14/s8/d128/bf16/"
                               "scale:0.001/routing/seed271340").status,
            Status::kPass);
}

}  // namespace
}  // namespace ringcheck
