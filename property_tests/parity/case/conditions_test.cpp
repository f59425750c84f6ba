// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Each condition holds where it should, and not where it nearly does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "parity/case/conditions/condition.h"

namespace ringcheck::parity {
namespace {

// Everything that a case meets, but for the values of its parts and kernels at dim 128.
std::set<std::string> met_by(const std::string& text) {
  const Case test = parse_case(text);
  const Facts facts(test);
  std::set<std::string> names;
  for (const Condition& row : conditions_of("cpu"))
    if (row.holds(facts))
      names.insert(row.name);
  return names;
}

// Two cases that differ in little: the first meets the condition, the second does not.
struct Pair {
  const char *name, *meets, *nearly;
};

constexpr Pair kPairs[] = {
    {"batch 2", "b2", "b3"},
    {"batch 3", "b3", "b4"},
    {"batch 4 and more", "b4", "b3"},
    {"batch 3 and more", "b3", "b2"},
    {"batch entries of different lengths", "lengths:4+16", "b2/s16"},
    {"an empty batch entry", "lengths:0+16", "lengths:1+16"},
    {"a batch entry of one token", "lengths:1+16", "lengths:2+16"},
    {"the first batch entry shorter than others", "lengths:15+16", "lengths:16+15"},
    {"a batch entry of which a rank holds no token", "contiguous/P2/lengths:8+16",
     "contiguous/P2/lengths:9+16"},
    {"RoPE of batch entries of different lengths", "lengths:4+16/rope:half[10000]", "lengths:4+16"},
    {"one query head", "hq1/hkv1", "hq2/hkv1"},
    {"heads no power of two", "hq6/hkv2", "hq8/hkv2"},
    {"9 query heads and more", "hq9/hkv9", "hq8/hkv8"},
    {"17 query heads and more", "hq17/hkv1", "hq16/hkv1"},
    {"64 query heads", "hq64/hkv8", "hq63/hkv9"},
    {"9 key-value heads and more", "hq18/hkv9", "hq16/hkv8"},
    {"each query head its own keys", "hq2/hkv2", "hq1/hkv1"},
    {"all query heads one key head", "hq4/hkv1", "hq4/hkv2"},
    {"query group no power of two", "hq6/hkv2", "hq6/hkv3"},
    {"query group of 5 to 7", "hq7/hkv1", "hq8/hkv1"},
    {"query group of 8 and more", "hq16/hkv2", "hq14/hkv2"},
    {"query groups of 5 and more, several", "hq10/hkv2", "hq5/hkv1"},
    {"dim below 8", "d7", "d8"},
    {"dim odd", "d15", "d14"},
    {"dim no multiple of 8", "d12", "d16"},
    {"dim above 64", "d65", "d64"},
    {"dim above 96", "d97", "d96"},
    {"dim above 128", "d129", "d128"},
    {"dim above 192", "d193", "d192"},
    {"dim-v above dim", "d16/dv17", "d16/dv16"},
    {"dim-v below dim", "d16/dv15", "d16/dv16"},
    {"dim-v above 128", "d16/dv129", "d16/dv128"},
    {"dim-v above 128, not dim", "d16/dv129", "d129/dv129"},
    {"RoPE over 96 channels and more", "d96/rope:half[10000]", "d94/rope:half[10000]"},
    {"scale above 1", "scale:1.01", "scale:1"},
    {"scale below -1", "scale:-1.01", "scale:-1"},
    {"scale negative", "scale:-0.1", "scale:0"},
    {"scale 0", "scale:0", "scale:0.001"},
    {"scale nearly 0", "scale:-0.001", "scale:0"},
    {"dO over thirteen binades in fp16", "wide/fp16", "wide/bf16"},
    {"length that the balancer divides", "headtail/P4/s16", "headtail/P4/s20"},
    {"length that it does not divide", "headtail/P4/s20", "contiguous/P4/s20"},
    {"one token", "s1", "s2"},
    {"fewer tokens than ranks", "P4/s3", "P4/s4"},
    {"a shard of one slot", "contiguous/P4/s4", "headtail/P4/s4"},
    {"a shard of odd length", "contiguous/P2/s6", "contiguous/P2/s8"},
    {"a rank without a token", "contiguous/P4/doc[4,0:4,4,4]", "headtail/P4/doc[4,0:4,4,4]"},
    {"a rank with one token", "contiguous/P2/s3", "contiguous/P2/s4"},
    {"a piece of pads beside one of tokens", "headtail/P2/doc[1,2:3]", "headtail/P2/s7"},
    {"a shard above 64 slots", "contiguous/P2/s130", "contiguous/P2/s128"},
    {"a shard of a slot more than a tile", "contiguous/P2/s34", "contiguous/P2/s32"},
    {"above 256 tokens", "s257", "s256"},
    {"a prime world above 2", "P5", "P9"},
    {"7 ranks and more", "P7", "P6"},
    {"9 ranks and more", "P9", "P8"},
    {"a round of stripes that is not full", "striped[3]/P2/s8", "striped[3]/P2/s12"},
    {"one round of stripes", "striped[3]/P2/s6", "striped[1]/P2/s2"},
    {"stripes no power of two", "striped[3]", "striped[16]"},
    {"RoPE half above position 256", "rope:half[100]/s258", "rope:half[100]/s257"},
    {"RoPE interleaved above position 256", "rope:interleaved[100]/doc[10,258]",
     "rope:interleaved[100]/doc[11,257]"},
    {"RoPE half above position 2048", "rope:half[100]/s2050", "rope:half[100]/s2049"},
    {"RoPE interleaved above position 2048", "rope:interleaved[100]/s2050", "rope:half[100]/s2050"},
    {"RoPE half above position 32768", "rope:half[100]/s32770", "rope:half[100]/s32769"},
    {"RoPE interleaved above position 32768", "rope:interleaved[100]/s32770",
     "rope:interleaved[100]/s32769"},
    {"RoPE above position 100000", "rope:half[100]/s100002", "s100002"},
    {"llama3 RoPE beyond its original length", "rope:half[100,llama3,8,1,4,64]/s66",
     "rope:half[100,llama3]/s66"},
    {"window of one key", "window[1]", "window[2]"},
    {"window as wide as the sequence", "window[8]/s8", "window[7]/s8"},
    {"window narrower than a block", "window[3]/contiguous/P2/s8", "window[4]/contiguous/P2/s8"},
    {"window over several blocks", "window[5]/headtail/P2/s8", "window[4]/headtail/P2/s8"},
    {"window's first hidden key on a block's edge", "window[4]/headtail/P2/s8",
     "window[4]/striped[1]/P2/s8"},
    {"window's first key on a block's edge", "window[5]/contiguous/P2/s8",
     "window[6]/contiguous/P2/s8"},
    {"prefix of no key", "prefix[0]", "prefix[1]"},
    {"prefix of all keys and more", "prefix[8]/s8", "prefix[7]/s8"},
    {"prefix up to a block's edge", "prefix[4]/contiguous/P2/s8", "prefix[8]/contiguous/P2/s8"},
    {"prefix that ends inside a block", "prefix[3]/contiguous/P2/s8", "prefix[4]/contiguous/P2/s8"},
    {"one document", "doc[8]", "doc[4,4]"},
    {"8 documents and more", "doc[1,1,1,1,1,1,1,1]", "doc[1,1,1,1,1,1,1]"},
    {"an empty document before others", "doc[0:4,4]", "doc[4,0:4]"},
    {"an empty document at the end", "docfull[4,0:4]", "docfull[0:4,4]"},
    {"a document of one token", "doc[1:4,4]", "doc[2:4,4]"},
    {"pads between documents", "doc[3:4,4]", "doc[0:4,4]"},
    {"RoPE of documents with pads between them", "doc[3:4,4]/rope:half[100]",
     "doc[4,3:4]/rope:half[100]"},
    {"a document from a block's edge", "doc[4,4]/contiguous/P2", "doc[3,5]/contiguous/P2"},
    {"a document inside a block", "doc[1,2,5]/contiguous/P2", "doc[4,4]/contiguous/P2"},
    {"a document over three blocks and more", "doc[1,6,1]/headtail/P2", "doc[2,4,2]/headtail/P2"},
};

TEST(Conditions, HoldWhereTheyShouldAndNotBesideIt) {
  for (const Pair& pair : kPairs) {
    EXPECT_TRUE(met_by(pair.meets).contains(pair.name)) << pair.name << ": " << pair.meets;
    EXPECT_FALSE(met_by(pair.nearly).contains(pair.name)) << pair.name << ": " << pair.nearly;
  }
}

TEST(Conditions, EachHasItsPairOfCases) {
  std::set<std::string> held;
  for (const Pair& pair : kPairs)
    held.insert(pair.name);
  std::set<std::string> names;
  for (const Condition& row : conditions_of("cpu"))
    if (row.part.empty() && !row.name.starts_with("dim 128, ")) {
      EXPECT_TRUE(names.insert(row.name).second) << row.name;
    }
  EXPECT_EQ(names, held);
}

TEST(Conditions, AKernelAtTheSizeOfMostModelsIsOneForEachDtype) {
  EXPECT_TRUE(met_by("d128/flash/fp16").contains("dim 128, flash, fp16"));
  EXPECT_FALSE(met_by("d128/flash/bf16").contains("dim 128, flash, fp16"));
  EXPECT_FALSE(met_by("d128/dv64/plain/fp16").contains("dim 128, plain, fp16"));
}

TEST(Conditions, ACaseHasAtMostOneValueOfAPart) {
  const Case test =
      parse_case("ring:allgather[keep]/striped[16]/docfull[5,7:9]/P7/rope:half[100,llama3]");
  const Facts facts(test);
  std::set<std::string> parts;
  for (const Condition& row : conditions_of("cpu"))
    if (!row.part.empty() && row.holds(facts)) {
      EXPECT_TRUE(parts.insert(row.part).second) << row.name;
    }
  EXPECT_THAT(parts,
              ::testing::UnorderedElementsAre("mask", "balance", "strategy", "dtype", "kernel",
                                              "world", "rope", "data", "world_kind"));
}

}  // namespace
}  // namespace ringcheck::parity
