// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "reference/errors/contract.h"
#include "reference/tiles/tile_formulas.h"

// Formulas (4) and (7) of docs/numerics.md for one row and channel, from its sums over the keys, (8) and
// (9) for one key and channel, from its sums over the rows, and what is stored of all of them, as a CPU and a
// GPU evaluate them. Arrays are [rows, columns] unless they say that they have one a row; of (8) and (9) a
// row is a key.
namespace ringcheck::reference {

// NaN stays NaN.
RINGCHECK_ON_ANY_DEVICE inline double at_least(double x, double least) { return x < least ? least : x; }

// rho_o(x): x is stored as a result.
RINGCHECK_ON_ANY_DEVICE inline double result_rounding(double x, const Contract& contract) {
  return at_least(::fabs(x) * contract.u_o, ::fmax(contract.eta_o, contract.eta_e));
}

// What all but the last are made of: a tensor, and of its rows the sums of a formula.
struct RowFormula {
  Contract contract;
  double step = 0;      // in which partial results underflow
  int64_t columns = 0;  // channels
  const double* value = nullptr;      // O or a gradient
  const double* of_value = nullptr;   // (4): sums of z v; (7): P sigma^G k; (8): T sigma^L q; (9): P sigma^L dO
  const double* of_size = nullptr;    // what is summed with |v|, |k|, |q| or |dO|
  const double* of_square = nullptr;  // what is summed with the squares of these
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
    const double rounding = result_rounding(O, contract);
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

// What (7), (8) and (9) share: terms that were summed, and an error relative to the gradient itself.
struct GradientFormula : RowFormula {
  double scale = 1;     // of the scores, its size, where the gradient has it as a factor
  double partials = 1;  // that are merged
  const double* chain_variance = nullptr;  // a row

 protected:
  RINGCHECK_ON_ANY_DEVICE void write(int64_t row, int64_t i, PairError terms, PairError relative) const {
    const double size = ::fabs(value[i]), lost = flushed[row] * scale;
    const double of_gradient = relative.variance + chain_variance[row] + contract.u_p * contract.u_p * kThird;
    bound[i] = terms.bound * scale + size * relative.bound + lost + partials * step;
    variance[i] = terms.variance * scale * scale + size * size * of_gradient +
                  (lost * lost + partials * step * step) * kThird;
  }
};

// (7), the error of dQ.
struct QueryGradientFormula : GradientFormula {
  const double* p_k = nullptr;  // sums of P k
  Errors delta{}, lse{};        // a row

  RINGCHECK_ON_ANY_DEVICE void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const double PK = p_k[i], PGK = of_value[i];
    write(row, i,
          {::fabs(PK) * delta.bound[row] + of_size[i],
           PK * PK * delta.variance[row] + of_square[i] + PGK * PGK},
          {lse.bound[row], lse.variance[row]});
  }
};

// (8) and (9), the errors of dK and dV.
struct KeyGradientFormula : GradientFormula {
  const double *p_delta = nullptr, *p_g = nullptr;  // of dK alone: sums of P sigma^D q and P sigma^G q

  RINGCHECK_ON_ANY_DEVICE void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const double PD = p_delta == nullptr ? 0 : p_delta[i], PG = p_g == nullptr ? 0 : p_g[i];
    write(row, i, {of_size[i], of_square[i] + of_value[i] * of_value[i] + PD * PD + PG * PG}, {0, 0});
  }
};

// The end of all: the rounding of a stored gradient, what nobody sees, which is exact, and sigma from its square.
struct StoredFormula {
  Contract contract;
  bool rounded = false;           // here: O and LSE were before
  double implementations = 1;     // that err: 2 where what is judged is no more exact than the truth
  int64_t columns = 0;            // channels
  int64_t slots = 0;              // rows that repeat for every head and pair
  const double* seen = nullptr;   // [slots]: how many keys a query sees, or queries a key
  const double* value = nullptr;
  double* bound = nullptr;
  double* sigma = nullptr;        // was squared

  RINGCHECK_ON_ANY_DEVICE void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const double rounding = rounded ? result_rounding(value[i], contract) : 0;
    const bool exact = seen[row % slots] == 0;
    bound[i] = exact ? 0 : implementations * (bound[i] + rounding);
    sigma[i] = exact ? 0 : ::sqrt(implementations * (sigma[i] + rounding * rounding * kThird));
  }
};

}  // namespace ringcheck::reference
