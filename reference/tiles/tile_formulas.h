// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "reference/errors/contract.h"

#ifdef __CUDACC__
#define RINGCHECK_ON_ANY_DEVICE __host__ __device__
#else
#define RINGCHECK_ON_ANY_DEVICE
#endif

// Formulas (1) to (9) of docs/numerics.md for one pair of query and key, as a CPU and a GPU evaluate
// them: each is called for every row and column of a tile, [pairs * rows, columns], and reads and
// writes where its pointers say. Arrays with an element a pair are in tile order; those with one a
// row or a column say so.
namespace ringcheck::reference {

constexpr double kThird = 1. / 3;  // GPUs divide slowly

struct PairError {
  double bound, variance;
};

// The arithmetic of an implementation, and the runs of keys that the rows of the tile see.
struct TileFormula {
  Contract contract;
  double dim = 1;    // terms of q k
  double dim_v = 1;  // terms of dO v
  int64_t columns = 0;
  int64_t first_column = 0;  // its key
  int64_t strip_rows = 0;    // rows that repeat for every head and pair
  const int32_t* begin = nullptr;  // [strip_rows]
  const int32_t* end = nullptr;    // [strip_rows]

  RINGCHECK_ON_ANY_DEVICE double unit() const { return contract.u_a * contract.u_a / 3; }

  RINGCHECK_ON_ANY_DEVICE bool visible(int64_t row, int64_t column) const {
    const int64_t query = row % strip_rows, key = first_column + column;
    return begin[query] <= key && key < end[query];
  }

  // rho_p(x) = min(x, max(u_p x, eta_p)): x >= 0 becomes an operand of the second product.
  RINGCHECK_ON_ANY_DEVICE double operand_rounding(double x, double eta_p) const {
    return ::fmin(::fmax(x * contract.u_p, eta_p), x);
  }

  // (1), the error of s = scale q k^T, and (6), that of dO v^T with scale 1, from the sums of
  // |terms| and of their squares. Without the scaling's own two roundings in the bound.
  RINGCHECK_ON_ANY_DEVICE PairError product_error(double terms, double product, double magnitude,
                                                  double square) const {
    const auto& [u_a, u_p, eta_p, u_o, eta_o, eta_e, u_in, u_m, kappa, c_e, u_d, scales_ds, chops_after] = contract;
    return {magnitude * (terms * u_a + 2 * u_in),
            square * (unit() * terms / (2 * kappa) + 2 * u_in * u_in / 3) +
                product * product * unit() * (terms / (3 * kappa) + 2)};
  }
};

// P, 0 where invisible, and the relative error of e^(s - max).
struct PairScore {
  double p;
  PairError exponential;
};

// (1) and (2) from s, the sum of |terms| and that of their squares.
struct ScoreFormula : TileFormula {
  const double *s = nullptr, *magnitude = nullptr, *square = nullptr;
  const double* max = nullptr;  // a row
  const double* sum = nullptr;  // a row

  RINGCHECK_ON_ANY_DEVICE PairScore score(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const double u_a = contract.u_a, c_e = contract.c_e;
    const double score = s[i], below = max[row] - score;  // under the row's largest score
    const PairError e = product_error(dim, score, magnitude[i], square[i]);
    return {visible(row, column) ? ::exp(-below) / sum[row] : 0,
            {e.bound + u_a * (2 * (::fabs(score) + below) + c_e),
             e.variance + unit() * (2 * below * below + c_e * c_e)}};
  }
};

// What a pair adds to the sums of a row: P B^E, (P sigma^E)^2, and P where it is below u_a.
struct PairSums {
  double w = 0, z = 0, absorbed = 0;

  RINGCHECK_ON_ANY_DEVICE void add(const PairSums& other) {
    w += other.w;
    z += other.z;
    absorbed += other.absorbed;
  }
};

// What a pair adds to the sums over keys of (3) and (4). Who calls it adds up what it returns, into the sums of
// the row.
struct ForwardFormula : ScoreFormula {
  const double *row_bound = nullptr, *row_variance = nullptr;  // a row: of P |v| and (P v)^2
  double* w = nullptr;         // P B^E
  double* z = nullptr;         // (P sigma^E)^2
  double* bound = nullptr;     // of |v|: r + e_P + P (u_in + row bound), with r the rounding of P
  double* variance = nullptr;  // of v^2: z + (r^2 + e_P^2) / 3 + P^2 (u_in^2 / 3 + row variance)
  double *w_of_row = nullptr, *z_of_row = nullptr, *absorbed_of_row = nullptr;  // a row

  RINGCHECK_ON_ANY_DEVICE void add_to(int64_t row, const PairSums& sums) const {
    w_of_row[row] += sums.w;
    z_of_row[row] += sums.z;
    absorbed_of_row[row] += sums.absorbed;
  }

  RINGCHECK_ON_ANY_DEVICE PairSums operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const auto [p, e] = score(row, column);
    const double u_in = contract.u_in, r = operand_rounding(p, contract.eta_p / sum[row]);
    const double lost = ::fmin(p, contract.eta_e);  // of P where it underflows
    w[i] = p * e.bound;
    z[i] = p * p * e.variance;
    bound[i] = r + lost + p * (u_in + row_bound[row]);
    variance[i] = z[i] + (r * r + lost * lost) * kThird + p * p * (u_in * u_in / 3 + row_variance[row]);
    return {w[i], z[i], p < contract.u_a ? p : 0};
  }
};

// A bound and a variance, an element a row or column.
struct Errors {
  const double *bound = nullptr, *variance = nullptr;
};

// (6), and what a pair adds to the sums of (7), (8) and (9), in the place of what it follows from.
// T = dS = P (G - delta), G = dO v^T.
struct BackwardFormula : ScoreFormula {
  double* p = nullptr;            // P, in the place of s
  double* dv_bound = nullptr;     // what dV sums with |dO|, in the place of magnitude
  double* dv_variance = nullptr;  // what dV sums with dO^2, in the place of square
  double* g = nullptr;            // becomes T
  double* g_size = nullptr;       // sums of |dO v|; becomes what dK sums with |q|
  double* g_square = nullptr;     // sums of (dO v)^2; becomes what dK sums with q^2
  double* p_g = nullptr;          // P sigma^G
  double* dq_bound = nullptr;     // what dQ sums with |k|
  double* dq_variance = nullptr;  // what dQ sums with k^2
  const double* delta = nullptr;  // a row
  const double* keys = nullptr;   // a row: how many it sees
  double ds_step = 0;             // in which T underflows
  Errors delta_error{}, lse_error{}, dq_chain{};  // a row
  Errors dk_chain{}, dv_chain{};                  // a column

  RINGCHECK_ON_ANY_DEVICE void operator()(int64_t row, int64_t column) const {
    const int64_t i = row * columns + column;
    const auto& [u_a, u_p, eta_p, u_o, eta_o, eta_e, u_in, u_m, kappa, c_e, u_d, scales_ds, chops_after] = contract;
    const auto [P, e] = score(row, column);
    const double P2 = P * P, G = g[i], D = delta[row];
    // The softmax of a single score is 1, whatever the score.
    const double x = keys[row] == 1 ? 0 : G - D, size = ::fabs(x);
    const double T = P * x, T2 = T * T, lost = ::fmin(P, eta_e);  // of P where it underflows
    const PairError product = product_error(dim_v, G, g_size[i], g_square[i]);
    const double rounding = operand_rounding(::fabs(T), ds_step);
    const PairError t = !visible(row, column)
        ? PairError{0, 0}
        : PairError{P * (e.bound * size + product.bound + 3 * u_a * (::fabs(G) + ::fabs(D))) +
                        rounding + u_in * ::fabs(T) + lost * size + eta_e,
                    P2 * (product.variance + 2 * unit() * (G * G + D * D)) +
                        T2 * (e.variance + (u_a * u_a + u_in * u_in) / 3) +
                        (rounding * rounding + lost * lost * x * x + eta_e * eta_e) * kThird};
    p[i] = P;
    g[i] = T;
    p_g[i] = P * ::sqrt(product.variance);

    dq_bound[i] = t.bound + ::fabs(T) * dq_chain.bound[row];
    dq_variance[i] = t.variance + T2 * dq_chain.variance[row];

    const double lse_bound = lse_error.bound[row], lse_variance = lse_error.variance[row];
    g_size[i] = t.bound + P * delta_error.bound[row] +
                ::fabs(T) * (lse_bound + u_in + dk_chain.bound[column]);
    g_square[i] = t.variance + P2 * delta_error.variance[row] +
                  T2 * (lse_variance + dk_chain.variance[column]);

    const double p_rounding = operand_rounding(P, eta_p);
    dv_bound[i] = P * (e.bound + lse_bound + 2 * u_in + dv_chain.bound[column]) + p_rounding + lost;
    dv_variance[i] = P2 * (e.variance + lse_variance + (u_a * u_a + 2 * u_in * u_in) / 3 +
                           dv_chain.variance[column]) +
                     (p_rounding * p_rounding + lost * lost) * kThird;
  }
};

}  // namespace ringcheck::reference
