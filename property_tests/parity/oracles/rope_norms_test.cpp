// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>

#include "parity/judge/oracle.h"
#include "parity/subject/ours.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {
namespace {

constexpr int64_t kFirst[] = {0, 6};  // tokens of two documents

Case case_of(at::ScalarType dtype) {
  Case test = parse_case("ring:p2p/headtail/doc[6,10]/P2/b1/hq2/hkv2/s16/d8/rope:half[10000]");
  test.dtype = dtype;
  return test;
}

// What the oracle says where the rotated q, or k, are changed.
Status judged(at::ScalarType dtype, at::Tensor Outcome::*rotated, const std::function<void(at::Tensor&)>& change) {
  const Case test = case_of(dtype);
  const Problem problem = problem_of(test);
  Outcome outcome = solve_on_threads({test}, *ours());
  change(outcome.*rotated);
  const std::vector<Outcome> none;
  return Oracles::at("rope-norms").judge({test, *ours(), problem, outcome, none, [] {}}).status;
}

// All but the first tokens so many unit roundoffs longer.
std::function<void(at::Tensor&)> longer(double roundoffs) {
  return [=](at::Tensor& x) {
    const double unit = x.scalar_type() == at::kDouble ? 0x1p-53 : 0x1p-24;
    const at::Tensor before = x.clone();
    x.mul_(1 + roundoffs * unit);
    for (const int64_t first : kFirst) x.select(2, first).copy_(before.select(2, first));
  };
}

// Of seventeen that are allowed ours may take some.
TEST(RopeNorms, AllowSomeUnitRoundoffs) {
  for (at::Tensor Outcome::*rotated : {&Outcome::q_rotated, &Outcome::k_rotated})
    for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
      EXPECT_EQ(judged(dtype, rotated, longer(2)), Status::kPass) << dtype;
      EXPECT_EQ(judged(dtype, rotated, longer(40)), Status::kFail) << dtype;
    }
}

TEST(RopeNorms, HoldEveryFirstTokenToItsBits) {
  for (at::Tensor Outcome::*rotated : {&Outcome::q_rotated, &Outcome::k_rotated})
    for (const int64_t first : kFirst)
      EXPECT_EQ(judged(at::kFloat, rotated,
                       [=](at::Tensor& x) {
                         const at::Tensor token = x.select(2, first);
                         token.copy_(token.nextafter(token * 2));
                       }),
                Status::kFail)
          << "token " << first;
}

}  // namespace
}  // namespace ringcheck::parity
