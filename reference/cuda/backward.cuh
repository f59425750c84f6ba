// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/cuda/fused_attention.h"
#include "reference/cuda/power.cuh"
#include "reference/cuda/tile_products.cuh"

namespace ringcheck::reference {

struct Backward {
  FusedInputs in;
  FusedSaved saved;
  FusedGradients out;
  double factor;  // of a score, to sixteenths of powers of two
};

// e^(score - lse), the score before it is scaled; `lse` in sixteenths of powers of two.
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
      for (int m = 0; m < kDim / 16; ++m)
        for (int e = 0; e < 4; ++e)
          x[int64_t(row) * kDim + 16 * m + 4 * lane.t + e] =
              rows[2 * m + e % 2][c + e / 2] * factor;
}

}  // namespace ringcheck::reference
