// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the conservation laws take the arithmetic of a subject for: by its promise, and wider where gradients are
// turned back, by what the angle of the last position may be off.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "parity/judge/conservation/conservation_evidence.h"
#include "parity/judge/reference_rope.h"

namespace ringcheck {
namespace {

// All different, so that none stands for another.
parity::Promise promise() {
  parity::Promise promise;
  promise.contract.u_o = 0x1p-9;
  promise.contract.u_a = 0x1p-24;
  promise.u_angle = 0x1p-30;
  promise.partials = 3;
  promise.gradient_partials = {4, 5};
  return promise;
}

parity::Arithmetic arithmetic(const std::string& rope, int64_t seq, const parity::Outcome& outcome = {}) {
  return parity::arithmetic_of(parity::parse_case("P2/hq1/hkv1/d128/float32/scale:0.5/" + rope + "/s" + std::to_string(seq)),
                               promise(), outcome);
}

TEST(ArithmeticOfConservation, IsThePromiseWithoutARotaryEmbedding) {
  for (const int64_t seq : {64, 4096}) {
    const parity::Arithmetic how = arithmetic("rope:none", seq);
    EXPECT_EQ(how.contract, promise().contract);
    EXPECT_EQ(how.scale, 0.5);
    EXPECT_EQ(how.world, 3);
    EXPECT_TRUE(how.rotated);
  }
}

// Of a key each of the heads that read it gives as many, where they are rounded before they are added.
TEST(ArithmeticOfConservation, CountsTheTermsOfGradientsThatAreRounded) {
  const parity::Case test = parity::parse_case("P2/hq6/hkv2/d128/s64/float32/rope:none");
  parity::Promise rounds = promise();
  EXPECT_EQ(parity::arithmetic_of(test, rounds, {}).gradient_terms, 0);
  rounds.contract.u_m = 0x1p-11;
  EXPECT_EQ(parity::arithmetic_of(test, rounds, {}).gradient_terms, 3 * 5);
  rounds.gradient_partials = {};
  EXPECT_EQ(parity::arithmetic_of(test, rounds, {}).gradient_terms, 3 * 3);
  rounds.backward_contract = promise().contract;
  EXPECT_EQ(parity::arithmetic_of(test, rounds, {}).gradient_terms, 0) << "its backward pass rounds none";
}

// Gradients are turned back by angles, each its position times a frequency that is off by so much.
TEST(ArithmeticOfConservation, GrowsWithTheLastPositionUnderARotaryEmbedding) {
  for (const char* rope : {"rope:half", "rope:interleaved"}) {
    const parity::Case test = parity::parse_case(std::string("P2/hq1/hkv1/d128/float32/") + rope);
    const double rate = std::ranges::max(reference::angle_error_rates(parity::reference_rope(test, promise()), 128));
    EXPECT_GT(rate, 0x1p-31);
    for (const int64_t seq : {64, 512, 1 << 20}) {
      reference::Contract wider = promise().contract;
      wider.u_o = 0x1p-9 + 8 * 0x1p-24 + rate * static_cast<double>(seq);
      EXPECT_DOUBLE_EQ(arithmetic(rope, seq).contract.u_o, wider.u_o) << rope << " " << seq;
      EXPECT_EQ(arithmetic(rope, seq).contract.u_a, wider.u_a) << "and nothing else does";
    }
  }
}

TEST(ArithmeticOfConservation, KnowsWhetherQAndKAreShownRotated) {
  EXPECT_FALSE(arithmetic("rope:half", 64).rotated);
  parity::Outcome shown;
  shown.q_rotated = shown.k_rotated = at::ones({1});
  EXPECT_TRUE(arithmetic("rope:half", 64, shown).rotated);
}

}  // namespace
}  // namespace ringcheck
