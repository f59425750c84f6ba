// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Powers of two of sixteenths: 2^((n + f) / 16) for an integer n and |f| <=
// 1/2.
namespace ringcheck::reference {

constexpr int kParts = 16;
constexpr double kLog2e = 1.4426950408889634074;

// x + kInteger holds the nearest integer of x in its low bits, for |x| < 2^51.
constexpr double kInteger = 6755399441055744.0;  // 1.5 * 2^52
constexpr int64_t kIntegerBits = 0x4338000000000000;

// Integers, as they lie in kInteger + n, of the smallest power that is not
// taken for zero.
constexpr int64_t kLowest = kIntegerBits - 1021 * kParts;

// 2^(j / 16), rounded.
struct PowerTable {
  double part[kParts];
};
__device__ inline void fill(PowerTable& table) {
  if (threadIdx.x < kParts)
    table.part[threadIdx.x] = exp2(double(threadIdx.x) / kParts);
}

// `shifted` is kInteger + n. The error is below 1.1 units in the last place;
// powers below 2^-1021 are zero, and where f is NaN, so is the power.
__device__ inline double power(double shifted, double f, const PowerTable& table) {
  const int n = __double2loint(shifted);
  const double part = table.part[n & (kParts - 1)];
  const double scaled =
      __hiloint2double(__double2hiint(part) + (n >> 4 << 20), __double2loint(part));
  const double base = __double_as_longlong(shifted) < kLowest ? 0 : scaled;
  // (2^(f / 16) - 1) / f, interpolated at the Chebyshev nodes: to 1.5e-17.
  double sum = 0x1.430a1d08ec681p-37;
  sum = fma(sum, f, 0x1.5d897e525c216p-30);
  sum = fma(sum, f, 0x1.3b2ab6fb41213p-23);
  sum = fma(sum, f, 0x1.c6b08d6f2a289p-17);
  sum = fma(sum, f, 0x1.ebfbdff82c590p-11);
  sum = fma(sum, f, 0x1.62e42fefa39f3p-5);
  return fma(base, sum * f, base);
}

}  // namespace ringcheck::reference
