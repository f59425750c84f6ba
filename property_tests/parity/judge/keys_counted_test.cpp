// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What is said of queries that saw other keys than the mask shows them.
#include "parity/judge/exact/keys_counted.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringcheck {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two ranks of two tokens, each of whose keys are a block; what the queries of rank 0 counted.
std::vector<std::string> said_of(double first, double second,
                                 const at::Tensor& judged = at::ones({1, 1, 4}, at::kBool)) {
  const parity::Case test = parity::parse_case("contiguous/full/P2/b1/hq1/hkv1/s4");
  const at::Tensor expected = at::full({1, 1, 4, 2}, 2, at::kDouble), counted = expected.clone();
  for (int64_t query = 0; query < 2; ++query) counted[0][0][query].copy_(at::tensor({first, second}, at::kDouble));
  const at::Tensor blocks = at::tensor({1., 0., 1., 0., 0., 1., 0., 1.}, at::kDouble).view({1, 1, 4, 2});
  return parity::miscounts(test, {counted, expected, judged, blocks});
}

constexpr const char* kWhere = "rank 0, batch 0, head 0, position 0 sees ";

TEST(KeysCounted, TellsEveryBlockAndWhoseKeysTheyAre) {
  const std::string where = kWhere;
  EXPECT_THAT(said_of(2, 2), IsEmpty());
  EXPECT_THAT(said_of(0, 2), ElementsAre(where + "0 keys of 2 in block 0: keys of rank 0 are missing"));
  EXPECT_THAT(said_of(2, 4), ElementsAre(where + "4 keys of 2 in block 1: keys of rank 1 count twice"));
  EXPECT_THAT(said_of(0, 4), ElementsAre(where + "0 keys of 2 in block 0, 4 keys of 2 in block 1: keys of rank 0 "
                                                 "are missing and those of rank 1 count twice"));
  EXPECT_THAT(said_of(4, 0), ElementsAre(where + "4 keys of 2 in block 0, 0 keys of 2 in block 1: keys of rank 1 "
                                                 "are missing and those of rank 0 count twice"));
  EXPECT_THAT(said_of(1, 2), ElementsAre(where + "1 keys of 2 in block 0"));
}

TEST(KeysCounted, AQueryThatNobodyJudgesSpoilsNoExplanation) {
  const at::Tensor judged = at::ones({1, 1, 4}, at::kBool);
  judged[0][0][1] = false;
  EXPECT_THAT(said_of(0, 2, judged), ElementsAre(std::string(kWhere) +
                                                 "0 keys of 2 in block 0: keys of rank 0 are missing"));
}

// Of two entries that hold different numbers of tokens: what is judged in the second alone belongs to its explanation.
TEST(KeysCounted, EveryEntryHasItsOwnQueries) {
  const parity::Case test = parity::parse_case("contiguous/full/P2/lengths:0+4/hq1/hkv1/d8");
  const at::Tensor judged = at::ones({2, 1, 4}, at::kBool);
  judged[0].fill_(false);
  const at::Tensor expected = at::full({2, 1, 4, 2}, 2, at::kDouble), counted = expected.clone();
  for (int64_t query = 0; query < 2; ++query) counted[1][0][query].copy_(at::tensor({0., 2.}, at::kDouble));
  const at::Tensor blocks = at::tensor({1., 0., 1., 0., 0., 1., 0., 1.}, at::kDouble).view({1, 1, 4, 2}).expand({2, 1, 4, 2});
  EXPECT_THAT(parity::miscounts(test, {counted, expected, judged, blocks}),
              ElementsAre("rank 0, batch 1, head 0, position 0 sees 0 keys of 2 in block 0: keys of rank 0 are missing"));
}

}  // namespace
}  // namespace ringcheck
