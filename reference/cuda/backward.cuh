// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/cuda/fused_attention.h"
#include "reference/cuda/power.cuh"
#include "reference/cuda/tile_products.cuh"

namespace ringcheck::reference {

// What both kernels of the backward pass get. P is recomputed from the LSE, and dS = P (dP - delta)
// (FlashAttention-2, Dao 2023, section 3.1).
struct Backward {
  FusedInputs in;
  FusedSaved saved;
  FusedGradients out;
  double factor;  // of a score, to sixteenths of powers of two
};

// e^(score - lse), the score before it is scaled; `lse` in sixteenths of powers
// of two.
__device__ inline double probability(double score, double factor, double lse,
                                     const PowerTable& powers) {
  const double x = fma(score, factor, -lse), shifted = x + kInteger;
  return power(shifted, x - (shifted - kInteger), powers);
}
constexpr double kLse = kLog2e * kParts;

// Writes a lane's part of rows first ... first + 15 of x [seq, kDim].
template <int kDim>
__device__ void store_rows(double* x, const Rows<kDim>& rows, double factor, int first, int seq) {
  const Lane lane;
  for (int c = 0; c < 4; c += 2)
    if (const int row = first + lane.row(c); row < seq)
      for (int n = 0; n < kDim / 8; ++n)
        *reinterpret_cast<double2*>(x + int64_t(row) * kDim + 8 * n + 2 * lane.t) = {
            rows[n][c] * factor, rows[n][c + 1] * factor};
}

}  // namespace ringcheck::reference
