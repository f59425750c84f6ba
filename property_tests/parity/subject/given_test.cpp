// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Whether a rank wrote into what it was given, by sums of its bits: as on GPUs.
#include "parity/subject/checks/given.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cp/ledger/memory.h"

namespace ringcheck {
namespace {

using parity::Given;

at::Tensor some(at::IntArrayRef sizes, at::ScalarType dtype) {
  return at::arange(1, c10::multiply_integers(sizes) + 1).remainder(251).reshape(sizes).to(dtype);
}

// Widths of a row that are whole numbers of 8, 4, 2 and 1 bytes.
TEST(Given, SumsOfBitsSeeOneElementAndTwoThatChangedPlaces) {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf, at::kFloat, at::kDouble, at::kChar})
    for (const int64_t dim : {1, 2, 3, 4, 8, 13}) {
      const at::Tensor x = some({2, 3, 5, dim}, dtype);
      const Given::Trace before = Given::sums_of(x);
      EXPECT_EQ(Given::sums_of(x.clone()), before);
      for (int64_t i = 0; i < x.numel(); ++i) {
        at::Tensor other = x.clone();
        other.view(-1)[i] += 1;
        EXPECT_NE(Given::sums_of(other), before) << dtype << " " << dim << " element " << i;
        other = x.clone();
        const int64_t j = (7 * i + 1) % x.numel();
        other.view(-1)[i] = x.view(-1)[j];
        other.view(-1)[j] = x.view(-1)[i];
        if (!other.equal(x)) EXPECT_NE(Given::sums_of(other), before) << dtype << " " << dim << ": " << i << " and " << j;
      }
      for (int64_t side = 0; side < 3; ++side)
        EXPECT_NE(Given::sums_of(x.flip(side).contiguous()), before) << dtype << " " << dim << " turned along " << side;
    }
}

TEST(Given, SumsOfBitsSeeTheSignOfZero) {
  at::Tensor x = at::zeros({1, 2, 4, 8}, at::kBFloat16);
  const Given::Trace before = Given::sums_of(x);
  x.view(-1)[5] = -0.0;
  EXPECT_NE(Given::sums_of(x), before);
}

TEST(Given, SumsOfBitsSeeWhatDoesNotBeginAtAWord) {
  at::Tensor x = some({1, 4, 2, 8}, at::kBFloat16).view(-1).narrow(0, 3, 56).view({1, 7, 8});
  const Given::Trace before = Given::sums_of(x);
  x[0][6][7] += 1;
  EXPECT_NE(Given::sums_of(x), before);
}

TEST(Given, EachOfTheFourIsNamed) {
  const at::Tensor x = some({1, 2, 4, 8}, at::kBFloat16);
  const parity::Problem before{x.clone(), x.clone(), x.clone(), x.clone()};
  const Given given(before);
  EXPECT_EQ(given.changed(before), 0);
  const std::pair<const char*, at::Tensor parity::Problem::*> all[] = {
      {"q", &parity::Problem::q}, {"k", &parity::Problem::k}, {"v", &parity::Problem::v}, {"dO", &parity::Problem::d_o}};
  for (const auto& [name, tensor] : all) {
    parity::Problem now = before;
    now.*tensor = (now.*tensor).clone();
    (now.*tensor)[0][1][2][3] += 1;
    EXPECT_EQ(Given::names(given.changed(now)), name);
  }
}

// What a subject holds is counted by the same meter.
TEST(Given, SumsOfBitsHoldNoCopy) {
  const at::Tensor x = some({2, 8, 1024, 128}, at::kBFloat16);
  const auto meter = std::make_shared<MemoryMeter>();
  {
    const Metered metered(meter);
    Given::sums_of(x);
  }
  EXPECT_LE(meter->total().peak, static_cast<int64_t>(x.nbytes()) / 8);
}

}  // namespace
}  // namespace ringcheck
