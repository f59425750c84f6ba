// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "reference/errors/contract.h"
#include "reference/tiles/tile_formulas.h"

// Formulas (4) and (7) of docs/numerics.md for one row and channel, from its sums over the keys, as a
// CPU and a GPU evaluate them. Arrays are [rows, columns] unless they say that they have one a row.
namespace ringcheck::reference {

// NaN stays NaN.
RINGCHECK_ON_ANY_DEVICE inline double at_least(double x, double least) { return x < least ? least : x; }

// What both are made of: a tensor, and of its rows the sums of (4) or (7).
struct RowFormula {
  Contract contract;
  double step = 0;      // in which partial results underflow
  int64_t columns = 0;  // channels
  const double* value = nullptr;      // O or dQ
  const double* of_value = nullptr;   // sums of z v, or of P sigma^G k
  const double* of_size = nullptr;    // what is summed with |v| or |k|
  const double* of_square = nullptr;  // what is summed with v^2 or k^2
  const double* flushed = nullptr;    // a row
  double *bound = nullptr, *variance = nullptr;
};

// (4), the error of O, with w = P B^E, z = (P sigma^E)^2.
struct OutputFormula : RowFormula {
  const double* w_v = nullptr;        // [rows, 2 columns]: sums of w v, then of w v^2
  const double* largest_v = nullptr;  // of a key that is seen; none where nothing merges by differences
  const double *w = nullptr, *z = nullptr;  // a row, their sums
  const double* row_variance = nullptr;     // a row

  RINGCHECK_ON_ANY_DEVICE void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const double O = value[i], W = w[row], lost = flushed[row];
    const double rounding = at_least(::fabs(O) * contract.u_o, ::fmax(contract.eta_o, contract.eta_e));
    const double wv = w_v[2 * row * columns + column], wv2 = w_v[(2 * row + 1) * columns + column];
    // Cauchy-Schwarz: the sum of w |v - O| is at most the root of (sum of w) (sum of w (v - O)^2).
    const double spread = at_least((O * W - 2 * wv) * O + wv2, 0);
    const double of_row = z[row] + row_variance[row] + contract.u_p * contract.u_p * kThird;
    const double terms = at_least((O * of_row - 2 * of_value[i]) * O + of_square[i], 0);
    // A merge by differences rounds b - a, at most 2 max |v|, its weight and their product; the
    // weights by which these errors reach the end sum to 1 at most.
    const double difference = largest_v == nullptr ? 0 : 2 * contract.u_d * largest_v[i];
    bound[i] = ::sqrt(spread * W) + of_size[i] + rounding + lost + step + 3 * difference;
    variance[i] = terms + (rounding * rounding + lost * lost + step * step) * kThird + difference * difference;
  }
};

// (7), the error of dQ.
struct QueryGradientFormula : RowFormula {
  double scale = 1;     // its size
  double partials = 1;  // that are merged
  const double* p_k = nullptr;             // sums of P k
  Errors delta{}, lse{};                   // a row
  const double* chain_variance = nullptr;  // a row

  RINGCHECK_ON_ANY_DEVICE void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const double DQ = value[i], PK = p_k[i], PGK = of_value[i], lost = flushed[row] * scale;
    const double of_row = lse.variance[row] + chain_variance[row] + contract.u_p * contract.u_p * kThird;
    bound[i] = (::fabs(PK) * delta.bound[row] + of_size[i]) * scale + ::fabs(DQ) * lse.bound[row] + lost +
               partials * step;
    variance[i] = (PK * PK * delta.variance[row] + of_square[i] + PGK * PGK) * scale * scale +
                  DQ * DQ * of_row + (lost * lost + partials * step * step) * kThird;
  }
};

}  // namespace ringcheck::reference
