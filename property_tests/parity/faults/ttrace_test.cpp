// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The criterion of TTrace as it is published: a relative distance beside that of perturbed runs.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parity/case/problem.h"
#include "parity/faults/peer_test.h"

namespace ringcheck {
namespace {

using parity::Case;

class TTrace : public ::testing::TestWithParam<const char*> {
 protected:
  const Case test =
      parity::parse_case("causal/P2/b2/hq4/hkv2/s36/d16/dv24/" + std::string(GetParam()));
  const parity::Problem problem = parity::problem_of(test);
  const at::Tensor eager = parity::eager_attention(test, problem).o.to(at::kDouble);

  double moved() const {
    double most = 0;
    for (const auto& run : parity::perturbed_attention(test, problem))
      most = std::max(most, ((run.o.to(at::kDouble) - eager).norm() / eager.norm()).item<double>());
    return most;
  }
  // Of a tensor that is off by so much, as a whole.
  std::optional<bool> accepts(double relative, const std::string& tensor = "o") const {
    std::vector<at::Tensor> perturbed;
    for (const auto& run : parity::perturbed_attention(test, problem))
      perturbed.push_back(run.o.to(at::kDouble));
    return parity::PeerTests::at("ttrace").accepts(
        {test, tensor, eager * (1 + relative), eager, eager, eager, perturbed});
  }
};

TEST_P(TTrace, RejectsWhatIsFurtherOffThanPerturbedRuns) {
  EXPECT_GT(moved(), 0);
  EXPECT_TRUE(accepts(0).value());
  EXPECT_TRUE(accepts(3.9 * moved()).value());
  EXPECT_FALSE(accepts(4.1 * moved()).value());
  EXPECT_FALSE(accepts(NAN).value());
}

TEST_P(TTrace, DoesNotLookAtLse) { EXPECT_FALSE(accepts(1, "lse").has_value()); }

// An input moves by an epsilon at most, so the results stay near, and every draw is another one.
TEST_P(TTrace, PerturbsByAnEpsilon) {
  const auto runs = parity::perturbed_attention(test, problem);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_LT(moved(), 0.1);
  EXPECT_FALSE(runs[0].o.equal(runs[1].o));
  EXPECT_TRUE(runs[0].o.equal(parity::perturbed_attention(test, problem)[0].o));
}

INSTANTIATE_TEST_SUITE_P(Dtypes, TTrace, ::testing::Values("float32", "bf16", "fp16"));

}  // namespace
}  // namespace ringcheck
