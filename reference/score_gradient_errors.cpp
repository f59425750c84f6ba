// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/score_gradient_errors.h"

#include <ATen/ATen.h>

#include <tuple>

namespace ringcheck::reference {

ScoreGradients score_gradients(const ErrorModel& model, const StripView& strip, const Tile& tile,
                               const Operand& v, const Scores& scores) {
  const auto& [u_a, u_in, eta_e] =
      std::tie(model.contract.u_a, model.contract.u_in, model.contract.eta_e);
  const double unit = model.unit_variance();
  const at::Tensor& p = scores.p;

  const at::Tensor g = at::bmm(strip.d_o.value, v.value.mT());
  const Error g_error =
      product_error(model, model.dim_v, g, at::bmm(strip.d_o.magnitude, v.magnitude.mT()),
                    at::bmm(strip.d_o.square, v.square.mT()));
  const at::Tensor x = g - strip.delta;
  const at::Tensor t = p * x, t_magnitude = t.abs(), t_square = t.square();
  const at::Tensor p_lost = p.clamp_max(eta_e);
  const at::Tensor p_g = g_error.variance.sqrt().mul_(p);
  const at::Tensor rounding = model.operand_rounding(t_magnitude);

  // P (B^E |x| + B^G + 3 u_a (|G| + |delta|)) + rho_p(T) + u_in |T| + e_P |x| + eta_e
  at::Tensor bound = g.abs().add_(strip.delta.abs()).mul_(3 * u_a).add_(g_error.bound).mul_(p);
  bound.addcmul_(t_magnitude, scores.exponential.bound + u_in).add_(rounding);
  bound.addcmul_(p_lost, x.abs()).add_(eta_e);

  // P^2 ((sigma^G)^2 + 2 u_a^2 / 3 (G^2 + delta^2)) + T^2 ((sigma^E)^2 + (u_a^2 + u_in^2) / 3)
  //   + (rho_p(T)^2 + e_P^2 x^2 + eta_e^2) / 3
  at::Tensor variance = g.square().add_(strip.delta.square()).mul_(2 * unit);
  variance.add_(g_error.variance).mul_(scores.p_square);
  variance.addcmul_(t_square, scores.exponential.variance + (u_a * u_a + u_in * u_in) / 3);
  variance.addcmul_(rounding, rounding, 1. / 3);
  const at::Tensor lost = p_lost * x;
  variance.addcmul_(lost, lost, 1. / 3).add_(eta_e * eta_e / 3);

  hide(bound, tile, 0);
  hide(variance, tile, 0);
  return {t, t_magnitude, t_square, p_g, p_lost, {bound, variance}};
}

}  // namespace ringcheck::reference
