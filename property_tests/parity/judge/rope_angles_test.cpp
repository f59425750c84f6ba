// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// How far the angle of a rotary embedding may be off is what the promise says: float32 angles pass
// where they are promised, at a million tokens, too, and nowhere else; what is further off never does.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "parity/judge/reference_rope.h"
#include "parity/judge/rotated.h"
#include "parity/subject/ours.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/parity/subject/circumstances.h"
#include "reference/tiles/turn.h"

namespace ringcheck::parity {
namespace {

constexpr int64_t kTokens = 1 << 20, kDim = 4;

// [slots, dim / 2], in float64.
using Angles = std::function<at::Tensor(const at::Tensor& positions, double base, int64_t dim)>;

at::Tensor in_float64(const at::Tensor& positions, double base, int64_t dim) {
  return at::outer(positions.to(at::kDouble),
                   at::pow(base, at::arange(0, -dim, -2, at::kDouble) / static_cast<double>(dim)));
}

at::Tensor rounded_to_float32(const at::Tensor& positions, double base, int64_t dim) {
  const at::Tensor one = at::ones({1}, at::kLong);
  const at::Tensor frequency = in_float64(one, base, dim).flatten().to(at::kFloat);
  return at::outer(positions.to(at::kFloat), frequency).to(at::kDouble);
}

// As most models say it: 1 / base^(2c / dim), nothing of it wider than float32.
at::Tensor all_in_float32(const at::Tensor& positions, double base, int64_t dim) {
  const at::Tensor exponent = at::arange(0, dim, 2, at::kFloat) / static_cast<double>(dim);
  return at::outer(positions.to(at::kFloat), at::pow(base, exponent).reciprocal()).to(at::kDouble);
}

at::Tensor turned(const at::Tensor& x, const at::Tensor& angles, double direction) {
  const at::Tensor cos = angles.cos(), sin = angles.sin() * direction;
  return reference::mix_pairs(x.to(at::kDouble), reference::Rope::Pairing::kHalf, cos, -sin, sin);
}

Case long_case(const char* dtype) {
  return parse_case(std::string("causal/P1/b1/hq1/hkv1/s1048576/d4/dv4/rope:half[10000]/") + dtype);
}

Promise promising(const Case& test, double u_angle) {
  Promise promise;
  promise.contract = contract_of(test);
  promise.u_angle = u_angle;
  return promise;
}

// Of q, turned by these angles in a subject that promises u_angle.
Status judged(const Case& test, const at::Tensor& angles, double u_angle) {
  const at::Tensor x = normal({1, 1, kTokens, kDim}, 1, test.dtype);
  Problem problem;
  problem.q = problem.k = x;
  Outcome outcome;
  outcome.q_rotated = outcome.k_rotated = turned(x, angles, 1).to(test.dtype);
  return judge_rotated(test, promising(test, u_angle), problem, outcome).front().status;
}

TEST(RopeAngles, Float32PassesAtAMillionTokensWhereItIsPromised) {
  const at::Tensor positions = at::arange(kTokens);
  for (const char* dtype : {"float32", "bf16"}) {
    const Case test = long_case(dtype);
    EXPECT_EQ(judged(test, in_float64(positions, 10000, kDim), 0x1p-53), Status::kPass) << dtype;
    for (const Angles& angles : {Angles(rounded_to_float32), Angles(all_in_float32)}) {
      const at::Tensor found = angles(positions, 10000, kDim);
      EXPECT_EQ(judged(test, found, 0x1p-24), Status::kPass) << dtype;
      EXPECT_EQ(judged(test, found, 0x1p-53), Status::kFail) << dtype;
    }
  }
}

// On both sides of what float32 may be off, with the error of sine and cosine: all tokens below it, and one
// pair of one token above. Of two numbers of a pair one moves by a half of the pair's sum, or more.
TEST(RopeAngles, OneThatIsFurtherOffFails) {
  const Case test = long_case("float32");
  const reference::Rope rope = reference_rope(test, promising(test, 0x1p-24));
  const at::Tensor allowed = reference::angle_errors(mask_of(test), rope, kDim, at::kCPU) +
                             8 * contract_of(test).u_a;
  const at::Tensor exact = in_float64(at::arange(kTokens), 10000, kDim);
  EXPECT_EQ(judged(test, exact + 0.99 * allowed, 0x1p-24), Status::kPass);
  for (const int64_t position : {int64_t{1} << 12, kTokens - 1})
    for (const int64_t pair : {0, 1}) {
      at::Tensor angles = exact.clone();
      angles[position][pair] += (pair == 0 ? 2.5 : -2.5) * allowed[position][pair];
      EXPECT_EQ(judged(test, angles, 0x1p-24), Status::kFail) << position << " " << pair;
    }
}

// A subject whose angles are those of float32, there and back.
SharedSubject with_float32_angles(double u_angle) {
  const auto turn = [](double direction) -> Rotate {
    return [=](const at::Tensor& x, const Rope& rope, const Mask&, const Positions& positions) {
      const at::Tensor at_slots = at::tensor(flatten(positions), at::kLong);
      return turned(x, all_in_float32(at_slots, rope.base, x.size(3)), direction).to(at::kFloat);
    };
  };
  return ours_with(
      [=](Communicator& comm, const Case& test, const RankInput& input) {
        ContextParallel::Options parts = options_of(test);
        parts.rotate = turn(1);
        parts.rotate_back = turn(-1);
        return context_parallel_with(parts, comm, test, input);
      },
      [=](Promise& promise) { promise.u_angle = u_angle; });
}

TEST(RopeAngles, AllThatJudgesThemKnowsThePromise) {
  const Case test = parse_case("causal/P2/hq2/hkv1/s512/d16/dv16/float32/rope:half[500000]");
  for (const char* oracle : {"rope", "rope-norms", "parity", "conservation"})
    EXPECT_EQ(circumstances::judged_in(test, oracle, with_float32_angles(0x1p-24)).status,
              Status::kPass) << oracle;
  for (const char* oracle : {"rope", "parity"})
    EXPECT_EQ(circumstances::judged_in(test, oracle, with_float32_angles(0x1p-53)).status,
              Status::kFail) << oracle;
}

TEST(RopeAngles, APromiseOfNoArithmeticIsRefused) {
  for (const double u_angle : {0., -1., 0x1p-54, 0.5, std::nan("")}) {
    Promise promise;
    promise.u_angle = u_angle;
    EXPECT_THROW(validate(promise, "foreign"), BadCase) << u_angle;
  }
}

}  // namespace
}  // namespace ringcheck::parity
