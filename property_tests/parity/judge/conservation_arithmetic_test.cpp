// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the conservation laws take the arithmetic of a subject for: by its promise, and wider where gradients are
// turned back, by what the angle of the last position may be off.
#include <gtest/gtest.h>

#include "parity/judge/conservation/conservation_evidence.h"

namespace ringcheck {
namespace {

constexpr double kRoundoff = 0x1p-24;  // of the accumulation, and of the angles

double u_o(const std::string& rope, int64_t seq) {
  const parity::Case test = parity::parse_case("P2/hq1/hkv1/d128/float32/" + rope + "/s" + std::to_string(seq));
  parity::Promise promise;
  promise.contract.u_o = promise.contract.u_a = kRoundoff;
  promise.u_angle = kRoundoff;
  return parity::arithmetic_of(test, promise, {}).contract.u_o;
}

TEST(ArithmeticOfConservation, IsThePromiseWithoutARotaryEmbedding) {
  for (const int64_t seq : {64, 4096}) EXPECT_EQ(u_o("rope:none", seq), kRoundoff);
}

// An angle is its position times a frequency, of which the largest but one, 0.87, is off by a last place and the
// product by a rounding.
TEST(ArithmeticOfConservation, GrowsWithTheLastPositionUnderARotaryEmbedding) {
  for (const char* rope : {"rope:half", "rope:interleaved"}) {
    const double turning = 9 * kRoundoff;  // its own rounding, and 8 of turning back and forth
    for (const int64_t seq : {64, 512, 4096}) {
      const double of_a_position = (u_o(rope, seq) - turning) / static_cast<double>(seq);
      EXPECT_GE(of_a_position, kRoundoff) << rope << " " << seq;
      EXPECT_LE(of_a_position, 4 * kRoundoff) << rope << " " << seq;
    }
  }
}

}  // namespace
}  // namespace ringcheck
