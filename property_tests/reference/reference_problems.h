// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <rapidcheck.h>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "reference/attention.h"
#include "reference/errors/contract.h"

namespace ringcheck::reference_testing {

struct Shape {
  int64_t batch = 1, q_heads = 4, kv_heads = 2, seq = 48, dim = 16, dim_v = 8;
};

// How values are distributed. Where nothing else is said they are N(0,1) and the scale is
// 1 / sqrt(dim).
enum class Family {
  kSpread3,  // scores of standard deviation 3
  kNormal,
  kUniform,   // U[0,1)
  kOutliers,  // one element in fifty ten times as large
  kPeaked,    // q and k 2.5 times as large
  kOffset,    // V = 100 + N(0,1)
  kOnes,      // V = 1
  kFlat,      // q and k a tenth as large
  kWide,      // magnitudes from 2^-8 to 2^4, alike within a token of v and dO
};
inline constexpr std::array kFamilies = {Family::kSpread3,  Family::kNormal, Family::kUniform,
                                         Family::kOutliers, Family::kPeaked, Family::kOffset,
                                         Family::kOnes,     Family::kFlat,   Family::kWide};
std::string name_of(Family family);

// Values that `dtype` holds exactly, as float64; dO is N(0,1), but for kWide.
reference::Inputs draw(const Shape& shape, const Mask& mask, uint64_t seed,
                       Family family = Family::kSpread3, at::ScalarType dtype = at::kDouble);

// Every kind of mask, over `seq` slots (at least 20), with and without pads.
std::vector<std::pair<std::string, Mask>> masks(int64_t seq);

// The contract of float64 arithmetic.
reference::Contract float64_contract();

using Field = at::Tensor reference::Tensors::*;
inline constexpr std::array<std::pair<const char*, Field>, 5> kFields = {{
    {"O", &reference::Tensors::o},
    {"LSE", &reference::Tensors::lse},
    {"dQ", &reference::Tensors::dq},
    {"dK", &reference::Tensors::dk},
    {"dV", &reference::Tensors::dv},
}};

// |actual - expected| / bound of every element: 0 where both are equal (so are two -inf), infinite
// where they differ under a bound of 0, and infinite for a NaN.
at::Tensor quotient(const at::Tensor& actual, const at::Tensor& expected, const at::Tensor& bound);
double worst(const at::Tensor& actual, const at::Tensor& expected, const at::Tensor& bound);

// Where `actual` leaves `bound`, in words; empty if nowhere.
std::string excess(const reference::Tensors& actual, const reference::Tensors& expected,
                   const reference::Tensors& bound, double factor = 1);

bool same_bits(const at::Tensor& a, const at::Tensor& b);

// A small problem for a property, drawn piece by piece so that it shrinks.
struct Drawn {
  Shape shape;
  std::string mask_name;
  Mask mask;
  uint64_t seed = 0;
  reference::Inputs inputs() const { return draw(shape, mask, seed); }
};
void showValue(const Drawn& drawn, std::ostream& os);
rc::Gen<Drawn> problems();         // of any mask
rc::Gen<Drawn> packed_problems();  // of packed documents

}  // namespace ringcheck::reference_testing
