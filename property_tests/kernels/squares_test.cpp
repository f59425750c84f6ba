// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// How a long causal strip is cut, and that the numerics contracts of those who cut say so.
#include "kernels/squares.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "parity/subject/contract.h"
#include "parity/subject/ours.h"
#include "property_tests/parity/case/generators.h"

namespace ringcheck {
namespace {

RC_GTEST_PROP(Squares, AreAllRowsInTheirOrder, ()) {
  const int64_t rows = *gen::between(1, 1 << 24).as("rows"), bytes = *gen::choice<int64_t>({64, 256, 512, 768, 1024}).as("bytes");
  int64_t next = 0;
  for (const Square& square : squares_of(rows, bytes)) {
    RC_ASSERT(square.begin == next);
    RC_ASSERT(square.begin % 128 == 0);
    RC_ASSERT(square.rows >= std::min<int64_t>(rows, 128));
    RC_ASSERT(rows == square.rows || square.rows * bytes <= (16 << 20) + 128 * 2 * bytes);
    next += square.rows;
  }
  RC_ASSERT(next == rows);
}

TEST(Squares, AreOfSixteenMebibytesWhereAllTakeMoreThanTwentyFour) {
  constexpr int64_t kBytes = 512, kKibi = 1024;  // 128 channels of each of K and V in 16 bits
  EXPECT_EQ(squares_of(48 * kKibi, kBytes), (std::vector<Square>{{0, 48 * kKibi}}));
  EXPECT_EQ(squares_of(48 * kKibi + 1, kBytes), (std::vector<Square>{{0, 24 * kKibi + 128}, {24 * kKibi + 128, 24 * kKibi - 127}}));
  EXPECT_EQ(squares_of(64 * kKibi, kBytes), (std::vector<Square>{{0, 32 * kKibi}, {32 * kKibi, 32 * kKibi}}));
  EXPECT_EQ(squares_of(1024 * kKibi, kBytes).size(), 32U);
  EXPECT_EQ(squares_of(64 * kKibi, 2 * kBytes).size(), 4U) << "by bytes, not by tokens";
  EXPECT_EQ(squares_of(96 * kKibi, kBytes / 2).size(), 1U);
  EXPECT_EQ(squares_of(8388609, kBytes).back().rows, 32 * kKibi + 1) << "not one query with one key";
  EXPECT_EQ(squares_of(8388608 + 127, kBytes).back().rows, 32 * kKibi + 127) << "nor what is no whole tile";
  EXPECT_EQ(squares_of(8388608 + 128, kBytes).back().rows, 128);
  EXPECT_EQ(squares_of(0, kBytes), (std::vector<Square>{{0, 0}}));
}

TEST(Squares, MakeTwoPartialResultsARowInTheContract) {
  for (const char* kernel : {"cudnn", "cudnn-atomic", "wgmma", "tiled", "aten-cudnn"})
    for (const auto& [seq, dims] : {std::pair{49152, 128}, {49153, 128}, {98304, 64}, {98305, 64}, {1 << 20, 8}, {24577, 256}}) {
      parity::Case test = parity::parse_case(std::string("cuda/bf16/P4/") + kernel);
      test.seq = seq;
      test.dim = dims;
      for (const int64_t dim_v : {int64_t{dims}, int64_t{64}}) {
        test.dim_v = dim_v;
        const bool cuts = std::string(kernel).starts_with("cudnn") && squares_of(seq, 2 * (dims + dim_v)).size() > 1;
        test.mask = Causal{};
        EXPECT_EQ(parity::partials_of_a_call(test), cuts ? 2 : 1) << kernel << " " << seq << " " << dims;
        EXPECT_EQ(parity::ours()->promise(test).partials, cuts ? 8 : 4) << kernel << " " << seq << " " << dims;
        test.mask = Full{};
        EXPECT_EQ(parity::partials_of_a_call(test), 1) << "which no kernel cuts";
      }
    }
}

}  // namespace
}  // namespace ringcheck
