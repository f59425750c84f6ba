// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/strips_of_token.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parity/case/case.h"
#include "parity/subject/contract.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// Token by token, strip by strip.
int64_t most_by_hand(const std::vector<Visibility>& blocks, int64_t length) {
  int64_t most = 0;
  for (int64_t token = 0; token < length; ++token) {
    int64_t as_key = 0, as_query = 0;
    for (const Visibility& block : blocks)
      for (const Strip& strip : block.strips()) {
        const auto holds = [&](const Positions& positions, int64_t begin, int64_t size) {
          const std::vector<int64_t> at = flatten(positions);
          return std::count(at.begin() + begin, at.begin() + begin + size, token);
        };
        as_key += holds(block.keys(), strip.column, strip.columns);
        const bool diagonal = strip.kind == Strip::Kind::kCausal || strip.kind == Strip::Kind::kMirrored;
        as_query += holds(block.queries(), strip.row, strip.rows) * (diagonal && strip.columns != strip.rows ? 2 : 1);
      }
    most = std::max({most, as_key, as_query});
  }
  return most;
}

RC_GTEST_PROP(StripsOfToken, AreThoseThatHoldIt, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const Layout layout = parity::layout_of(test);
  const Mask mask = parity::mask_of(test);
  std::vector<Visibility> blocks;
  StripsOfToken strips(mask.length);
  for (const Positions& queries : layout.queries)
    for (const Positions& keys : layout.keys) {
      blocks.emplace_back(mask, queries, keys);
      strips.add(blocks.back());
    }
  RC_ASSERT(strips.most() == most_by_hand(blocks, mask.length));
}

// Queries 10 to 19 of 20: one causal strip, of which the keys before 10 are a call of their own.
TEST(StripsOfToken, OfAQueryAreTwoWhereKeysLieBeforeTheDiagonal) {
  const auto most = [](const Positions& queries, const Positions& keys) {
    StripsOfToken strips(20);
    strips.add({Mask{Causal{}, 20}, queries, keys});
    return strips.most();
  };
  EXPECT_EQ(most({{10, 10}}, {{0, 20}}), 2);
  EXPECT_EQ(most({{10, 10}}, {{10, 10}}), 1);
  EXPECT_EQ(most({{10, 10}}, {{0, 10}}), 1) << "full";
  EXPECT_EQ(most({{0, 10}}, {{10, 10}}), 0) << "sees none";
  EXPECT_EQ(most({{0, 20}}, {{0, 30}}), 1) << "with pads";
}

int gradient_partials(const std::string& text) { return parity::gradient_partials_of(parity::parse_case(text)); }

// 24 tokens on each of four ranks.
TEST(GradientPartials, AreTheStripsOfTheBlocksOfAStrategy) {
  const std::string rest = "/cudnn/P4/hq8/hkv4/s96/d64/fp16";
  EXPECT_EQ(gradient_partials("ring:p2p/contiguous/causal" + rest), 4) << "of the first key, and of the last query: one a rank";
  EXPECT_EQ(gradient_partials("ring:p2p/headtail/full" + rest), 4);
  EXPECT_EQ(gradient_partials("ring:p2p/headtail/causal" + rest), 4) << "both chunks of a rank are one strip";
  EXPECT_EQ(gradient_partials("ulysses/headtail/causal" + rest), 1);
  EXPECT_EQ(gradient_partials("gathered/contiguous/causal" + rest), 4);
  EXPECT_EQ(gradient_partials("ring:p2p/striped[1]/causal" + rest), 4) << "every block has a diagonal from end to end";
  EXPECT_EQ(gradient_partials("ring:p2p/striped[3]/causal" + rest), 1 + 3 * 8) << "the own block has one, others a stair of 8 steps";
}

TEST(GradientPartials, AreCountedWhereTheyMatter) {
  const std::string rest = "ring:p2p/striped[3]/causal/P4/hq8/hkv4/s96/d64/";
  EXPECT_GT(gradient_partials(rest + "fp16/fa2"), 4);
  EXPECT_EQ(gradient_partials(rest + "bf16/fa2"), 1) << "which has no underflow step to speak of";
  EXPECT_EQ(gradient_partials(rest + "fp16/plain"), 1) << "which adds them up in float32";
}

// Entries that hold different numbers of tokens are computed apart: of each the most counts, not their sum.
TEST(GradientPartials, AreThoseOfOneEntry) {
  const std::string rest = "ring:p2p/striped[3]/causal/cudnn/P4/hq8/hkv4/d64/fp16/s96/b2";
  EXPECT_EQ(gradient_partials(rest + "/lengths:96+50"), gradient_partials(rest));
}

}  // namespace
}  // namespace ringcheck
