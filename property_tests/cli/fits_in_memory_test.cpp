// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Does a case fit? What needs just what there is does, and one byte less is too little: neither side of
// the comparison is rounded. Counted here tensor by tensor, in whole numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/doctor/visible_gpus.h"
#include "cli/verify/memory.h"
#include "parity/case/case.h"

namespace ringcheck::cli {
namespace {

using parity::Case;
using parity::parse_case;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kMebi = 1 << 20, kBase = 100 * kMebi;

const char* const kOnTheHost[] = {
    "P4/b1/hq4/hkv2/s256/d32/bf16", "P3/b2/hq6/hkv3/s999/d16/dv48/float32", "P1/s7/hq1/hkv1/d2/float64",
    "P8/s1M/hq32/hkv8/d128/fp16"};

int64_t bytes_of(const Case& c) { return static_cast<int64_t>(c10::elementSize(c.dtype)); }

// Of q and o, k and v, each in a row of tokens.
int64_t inputs(const Case& c) {
  const int64_t tokens = c.batch * c.seq;
  const int64_t q = tokens * c.q_heads * c.dim, k = tokens * c.kv_heads * c.dim;
  const int64_t v = tokens * c.kv_heads * c.dim_v, d_o = tokens * c.q_heads * c.dim_v;
  return q + k + v + d_o;
}
int64_t outputs(const Case& c) {
  const int64_t tokens = c.batch * c.seq;
  const int64_t o = tokens * c.q_heads * c.dim_v, dq = tokens * c.q_heads * c.dim;
  const int64_t dk = tokens * c.kv_heads * c.dim, dv = tokens * c.kv_heads * c.dim_v;
  return o + dq + dk + dv;
}
// Once over all ranks: both in the dtype, and what was computed before it was rounded.
int64_t of_ranks(const Case& c) {
  const int64_t wide = c.dtype == at::kDouble ? 8 : 4;
  return (inputs(c) + outputs(c)) * bytes_of(c) + outputs(c) * wide;
}

bool fits(const Case& c, int ranks, const Memory& memory) { return !too_large(c, ranks, memory); }

TEST(FitsInMemory, OfTheHostIsComparedToTheByte) {
  for (const char* text : kOnTheHost) {
    const Case c = parse_case(text);
    const int64_t needs = kBase + (inputs(c) + outputs(c)) * bytes_of(c) + of_ranks(c);
    EXPECT_EQ(least_bytes(c, c.world), static_cast<double>(needs)) << text;
    EXPECT_TRUE(fits(c, c.world, {.host = static_cast<double>(needs)})) << text;
    EXPECT_FALSE(fits(c, c.world, {.host = static_cast<double>(needs - 1)})) << text;
    EXPECT_TRUE(fits(c, c.world, {.host = 0})) << "nobody can say";
  }
}

// Of a world on several hosts only what its ranks here hold.
TEST(FitsInMemory, OfTheHostIsThatOfItsRanks) {
  const Case c = parse_case("P4/b1/hq4/hkv2/s256/d32/bf16");
  const int64_t one = of_ranks(c) / 4;
  EXPECT_EQ(of_ranks(c) % 4, 0);
  for (const int ranks : {1, 2, 3})
    EXPECT_EQ(least_bytes(c, ranks), least_bytes(c, 4) - static_cast<double>((4 - ranks) * one));
}

TEST(FitsInMemory, OfAGpuIsComparedToTheByte) {
  const Case c = parse_case("cuda/P4/b1/hq32/hkv8/s128K/d128/bf16");
  const int64_t one = of_ranks(c) / 4;
  EXPECT_EQ(of_ranks(c) % 4, 0);
  // Ranks take GPUs in turn: on the one that has most of them, all must fit.
  for (const auto& [gpus, on_one] : {std::pair{1, 4}, {2, 2}, {3, 2}, {4, 1}, {8, 1}}) {
    const Memory enough{.gpus = gpus, .gpu = static_cast<double>(on_one * one)};
    const Memory little{.gpus = gpus, .gpu = static_cast<double>(on_one * one - 1)};
    EXPECT_TRUE(fits(c, 4, enough)) << gpus;
    EXPECT_FALSE(fits(c, 4, little)) << gpus;
  }
  EXPECT_TRUE(fits(c, 4, {.gpus = 1, .gpu = 0})) << "nobody can say";
  EXPECT_TRUE(fits(c, 4, {.gpus = 0, .gpu = 1})) << "no GPU is another reason";
}

// What nvidia-smi prints is whole MiB: not one is lost or given.
TEST(FitsInMemory, OfAGpuIsWhatNvidiaSmiSays) {
  const Case c = parse_case("cuda/P1/b1/hq8/hkv8/s64K/d64/bf16");
  EXPECT_EQ(of_ranks(c) % kMebi, 0);
  const int64_t mebi = of_ranks(c) / kMebi;
  const auto gpus = [](const std::vector<std::string>& each) {
    std::vector<Row> rows;
    for (const std::string& total : each) rows.push_back({{"index", std::to_string(rows.size())}, {"memory.total", total}});
    const VisibleGpus visible = visible_of(rows, {}, "");
    return Memory{.gpus = visible.count, .gpu = visible.memory.value_or(0)};
  };
  const std::string just = std::to_string(mebi), less = std::to_string(mebi - 1), more = "999999";
  EXPECT_EQ(gpus({just}).gpu, static_cast<double>(of_ranks(c)));
  EXPECT_TRUE(fits(c, 1, gpus({just})));
  EXPECT_FALSE(fits(c, 1, gpus({less})));
  EXPECT_FALSE(fits(c, 1, gpus({more, less}))) << "the smallest";
  EXPECT_FALSE(fits(c, 1, gpus({less, more})));
  EXPECT_EQ(gpus({more, just, "[N/A]"}).gpus, 3);
  EXPECT_EQ(gpus({"[N/A]", just, more}).gpu, gpus({just, more, "[N/A]"}).gpu);
  EXPECT_EQ(gpus({"[N/A]"}).gpu, 0);
}

TEST(FitsInMemory, WhatIsTooLargeIsSaid) {
  const Case c = parse_case("cuda/P4/b1/hq32/hkv8/s1M/d128/bf16");
  EXPECT_THAT(*too_large(c, 4, {.gpus = 1, .gpu = 79.0 * 1024 * kMebi}),
              AllOf(HasSubstr("needs at least 80 GiB"), HasSubstr("a GPU here has 79 GiB"), HasSubstr("use a smaller seq")));
  EXPECT_THAT(*too_large(parse_case("s1M"), 4, {.host = 1024.0 * kMebi}), HasSubstr("this host has 1 GiB"));
}

}  // namespace
}  // namespace ringcheck::cli
