// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "reference/errors/error_model.h"
#include "reference/errors/forward_errors.h"
#include "reference/errors/scores.h"
#include "reference/tiles/strip_view.h"

namespace ringcheck::reference {

// What the pairs of one tile add to the sums of (7), (8) and (9) of docs/numerics.md. P is
// recomputed from the LSE (FlashAttention-2, Dao 2023, section 3.1). T = dS = P (G - delta), where
// G = dO v^T.
struct ScoreGradients {
  Terms dq;  // P sigma^G, and what is summed with |k| and k^2
  Terms dk;  // T, and what is summed with |q| and q^2
  Terms dv;  // P, and what is summed with |dO| and dO^2
};

// In float64, and its error, without the rounding of stored results.
struct Gradient {
  at::Tensor value;
  Error error;
};

// The gradients of a group and their errors, strip by strip: dV = P^T dO, dQ = scale T K, dK = scale T^T Q.
// sigma^D, sigma^L and sigma^G belong to delta, LSE and G = dO v^T; T is dS.
class BackwardErrors {
 public:
  BackwardErrors(const ErrorModel& model, const Keys& keys, const Room& room);

  // Formulas (6) and (7): dQ in the rows of the strip. What the strip brings to dK and dV is remembered.
  Gradient add_strip(const StripView& strip, const ForwardErrors& forward, Scores& scores,
                     const std::function<void()>& tick);

  // Formulas (8) and (9), after all strips.
  Gradient dk(double scale) const;
  Gradient dv() const;

 private:
  struct Rows {
    const StripView& strip;
    const ForwardErrors& forward;
    Error dq_chain;
    Operand q, d_o;            // with q sigma^L and dO sigma^L for values
    at::Tensor q_sigma_delta;  // q sigma^D
  };
  ScoreGradients gradients(const Rows& rows, const Tile& tile, const Terms& scores) const;
  void add_to_keys(const Rows& rows, Range columns, const ScoreGradients& t);
  Gradient of_keys(KeyGradientFormula formula, const at::Tensor& value, const at::Tensor& sums,
                   const Error& chain) const;

  const ErrorModel& model_;
  const Keys& keys_;
  const Room& room_;
  Error dk_chain_, dv_chain_;  // [1, seq, 1]
  // Sums over the queries of a key.
  at::Tensor t_q_, p_d_o_;  // [pairs, seq, dim] and [pairs, seq, dim_v], of T q and P dO
  // [3, pairs, seq, channels].
  at::Tensor dk_;  // of T sigma^L q, of [B^T + P B^D + |T| (B^L + u_in + chain)] |q|, and of the
                   // like squared
  at::Tensor dv_;  // of P sigma^L dO, of [P (B^E + B^L + 2 u_in + chain) + rho_p(P) + e_P] |dO|,
                   // and of the like squared
  at::Tensor p_delta_q_;  // [pairs, seq, dim], of P sigma^D q
  at::Tensor p_g_q_;      // [pairs, seq, dim], of P sigma^G q
};

}  // namespace ringcheck::reference
