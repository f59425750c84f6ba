// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What a subject from outside says of itself, and what is taken where it says nothing: no more than the loosest kernel needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parity/case/text.h"
#include "parity/subject/contract.h"
#include "parity/subject/foreign/said.h"

namespace ringcheck::parity {
namespace {

using ::testing::ElementsAre;

const Case kTest = parse_case("causal/P3/s48/hq4/hkv2/d8/bf16/rope:half[10000]");

TEST(ForeignPromise, IsTheLoosestKernelsWhereNothingIsSaid) {
  const Promise promise = promise_of(kTest, {});
  EXPECT_EQ(promise.partials, kTest.world);
  EXPECT_EQ(promise.merged().of_dq, kTest.world);
  EXPECT_EQ(promise.merged().of_dkv, kTest.world);
  EXPECT_EQ(promise.u_angle, 0x1p-53);
  EXPECT_THAT(promise.shows, ElementsAre("dk", "dq", "dv", "lse", "o"));
  EXPECT_TRUE(promise.counts.empty() && promise.sends.empty() && promise.charts.empty());
  EXPECT_FALSE(promise.deterministic || promise.lengths || promise.by_strategy || promise.separate_passes ||
               promise.autograd || promise.any_layout);
  EXPECT_EQ(promise.contract, merging_anyhow(loosest_contract({kTest.dtype})));
}

TEST(ForeignPromise, IsWhatIsSaid) {
  const Promise promise = promise_of(kTest, {.contract = "plain", .partials = 2, .u_angle = 0x1p-24, .deterministic = true, .lengths = true,
                                             .shows = std::set<std::string>{"o"}, .sends = {{0, 1, 2}, {3, 0, 4}, {5, 6, 0}}});
  EXPECT_EQ(promise.partials, 2);
  EXPECT_EQ(promise.u_angle, 0x1p-24);
  EXPECT_TRUE(promise.deterministic && promise.lengths);
  EXPECT_THAT(promise.shows, ElementsAre("o"));
  EXPECT_EQ(promise.sends[2][1], 6);
  Case plain = kTest;
  plain.kernel = "plain";
  EXPECT_EQ(promise.contract, merging_anyhow(contract_of(plain)));
}

}  // namespace
}  // namespace ringcheck::parity
