// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "reference/error_model.h"
#include "reference/forward_errors.h"
#include "reference/score_errors.h"
#include "reference/strip_view.h"

namespace ringcheck::reference {

// dS = T = P (G - delta) in one tile, where G = dO v^T, and what its pairs add to the sums of (7), (8)
// and (9). All are [pairs, rows, columns].
struct ScoreGradients {
  at::Tensor t;    // T
  at::Tensor p_g;  // P sigma^G
  Error dq;        // of |k| and k^2
  Error dk;        // of |q| and q^2
  Error dv;        // of |dO| and dO^2
};

// The errors of the gradients of a group, strip by strip, without the rounding of stored results.
// sigma^D, sigma^L and sigma^G belong to delta, LSE and G = dO v^T; T is dS.
class BackwardErrors {
 public:
  BackwardErrors(const ErrorModel& model, const Keys& keys);

  // Formulas (6) and (7): the error of dQ in the rows of the strip. What the strip brings to the
  // errors of dK and dV is remembered.
  Error add_strip(const StripView& strip, const ForwardErrors& forward, ScoreErrors& scores,
                  const std::function<void()>& tick);

  // Formulas (8) and (9), after all strips.
  Error dk(double scale, const at::Tensor& dk) const;
  Error dv(const at::Tensor& dv) const;

 private:
  struct Rows {
    const StripView& strip;
    const ForwardErrors& forward;
    Error dq_chain;
    at::Tensor q_sigma_delta, q_sigma_lse, do_sigma_lse;  // q sigma^D, q sigma^L, dO sigma^L
  };
  ScoreGradients gradients(const Rows& rows, const Tile& tile, const Scores& scores) const;
  void add_dk(const Rows& rows, Range columns, const Scores& scores, const ScoreGradients& t);
  void add_dv(const Rows& rows, Range columns, const Scores& scores, const ScoreGradients& t);

  const ErrorModel& model_;
  const Keys& keys_;
  Error dk_chain_, dv_chain_;  // [1, seq, 1]
  // Sums over the queries of a key.
  Error dk_;              // of [B^T + P B^D + |T| (B^L + u_in + chain)] |q|, and the like squared
  Error dv_;              // of [P (B^E + B^L + 2 u_in + chain) + rho_p(P) + e_P] |dO|, and the like
  at::Tensor p_delta_q_;  // of P sigma^D q
  at::Tensor t_lse_q_;    // of T sigma^L q
  at::Tensor p_g_q_;      // of P sigma^G q
  at::Tensor p_lse_do_;   // of P sigma^L dO
};

}  // namespace ringcheck::reference
