// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/strips_of_token.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parity/case/case.h"
#include "parity/case/part.h"
#include "parity/subject/ours.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

struct Most {
  int64_t as_key = 0, as_query = 0;
  bool operator==(const Most&) const = default;
};

Most most_of(const StripsOfToken& strips) { return {strips.most_as_key(), strips.most_as_query()}; }

// Token by token, strip by strip.
Most most_by_hand(const std::vector<Visibility>& blocks, int64_t length) {
  Most most;
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
    most = {std::max(most.as_key, as_key), std::max(most.as_query, as_query)};
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
  RC_ASSERT(most_of(strips) == most_by_hand(blocks, mask.length));
}

// Queries 10 to 19 of 20: one causal strip, of which the keys before 10 are a call of their own.
TEST(StripsOfToken, OfAQueryAreTwoWhereKeysLieBeforeTheDiagonal) {
  const auto most = [](const Positions& queries, const Positions& keys) {
    StripsOfToken strips(20);
    strips.add({Mask{Causal{}, 20}, queries, keys});
    return strips.most_as_query();
  };
  EXPECT_EQ(most({{10, 10}}, {{0, 20}}), 2);
  EXPECT_EQ(most({{10, 10}}, {{10, 10}}), 1);
  EXPECT_EQ(most({{10, 10}}, {{0, 10}}), 1) << "full";
  EXPECT_EQ(most({{0, 10}}, {{10, 10}}), 0) << "sees none";
  EXPECT_EQ(most({{0, 20}}, {{0, 30}}), 1) << "with pads";
}

parity::GradientPartials partials_of(const std::string& text) { return parity::gradient_partials_of(parity::parse_case(text)); }
int of_dkv(const std::string& text) { return partials_of(text).dkv; }

// 24 tokens on each of four ranks.
TEST(GradientPartials, AreTheStripsOfTheBlocksOfAStrategy) {
  const std::string rest = "/cudnn/P4/hq8/hkv4/s96/d64/fp16";
  EXPECT_EQ(of_dkv("ring:p2p/contiguous/causal" + rest), 4) << "of the first key: one a rank";
  EXPECT_EQ(of_dkv("ring:p2p/headtail/full" + rest), 4);
  EXPECT_EQ(of_dkv("ring:p2p/headtail/causal" + rest), 4) << "both chunks of a rank are one strip";
  EXPECT_EQ(of_dkv("ulysses/headtail/causal" + rest), 1);
  EXPECT_EQ(of_dkv("gathered/contiguous/causal" + rest), 4);
  EXPECT_EQ(of_dkv("ring:p2p/striped[1]/causal" + rest), 4) << "every block has a diagonal from end to end";
  EXPECT_EQ(of_dkv("ring:p2p/striped[3]/causal" + rest), 1 + 3 * 8) << "the own block has one, others a stair of 8 steps";
  EXPECT_EQ(partials_of("ring:p2p/striped[3]/causal" + rest).dq, 4) << "a query is in one strip of each";
}

TEST(GradientPartials, AreCountedWhereTheyMatter) {
  const std::string rest = "ring:p2p/striped[3]/causal/P4/hq8/hkv4/s96/d64/";
  EXPECT_EQ(of_dkv(rest + "fp16/fa2"), 25);
  EXPECT_EQ(of_dkv(rest + "bf16/fa2"), 0) << "which has no underflow step to speak of";
  EXPECT_EQ(of_dkv(rest + "fp16/plain"), 0) << "which adds them up in float32";
}

// What ours promises of itself.
TEST(GradientPartials, ArePromised) {
  const std::string rest = "ring:p2p/striped[3]/causal/cudnn/P4/hq8/hkv4/s96/d64/";
  const auto merged = [&](const std::string& dtype) { return parity::ours()->promise(parity::parse_case(rest + dtype)).merged(); };
  EXPECT_EQ(merged("fp16").of_o, 4);
  EXPECT_EQ(merged("fp16").of_dq, 4);
  EXPECT_EQ(merged("fp16").of_dkv, 25);
  EXPECT_EQ(merged("bf16").of_dkv, 4);
}

// Entries that hold different numbers of tokens are computed apart: of each the most counts, not their sum.
TEST(GradientPartials, AreThoseOfOneEntry) {
  const std::string rest = "ring:p2p/striped[3]/causal/cudnn/P4/hq8/hkv4/d64/fp16/s96/";
  EXPECT_EQ(of_dkv(rest + "b2/lengths:96+50"), 25);
  EXPECT_EQ(of_dkv(rest + "b3/lengths:96+50+96"), 25) << "two of one length, which are not neighbours";
}

// Shards that a run is given in place of those of its case.
TEST(GradientPartials, AreThoseOfTheLayout) {
  const parity::Case test = parity::parse_case("ring:p2p/contiguous/causal/cudnn/P2/hq8/hkv4/d64/fp16/s96");
  EXPECT_EQ(parity::gradient_partials_of(test).dkv, 2);
  const parity::Case striped = parity::with(test, [](parity::Case& c) { c.balance = "striped", c.block = 3; });
  EXPECT_EQ(parity::gradient_partials_of(test, parity::layout_of(striped), parity::contracts_of(test).backward).dkv, parity::gradient_partials_of(striped).dkv);
  EXPECT_GT(parity::gradient_partials_of(striped).dkv, 2);
}

}  // namespace
}  // namespace ringcheck
