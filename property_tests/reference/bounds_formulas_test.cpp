// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "property_tests/cp/rotation/emulated_ring.h"
#include "property_tests/reference/reference_problems.h"
#include "reference/errors/bounds.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;
using at::Tensor;

// The formulas (1) to (10) of docs/numerics.md as they stand there, pair by pair and channel by
// channel: i is dimension 2, j dimension 3, c dimension 4. No query may be blind.
struct Formulas {
  Tensors bound, sigma;
  // What the backward pass has of the forward pass: the errors of LSE and D.
  struct Passed {
    Tensor B_L, s_L, B_D, s_D;
  } passed;

  // W of formula (3) to (5), W_q of (7), W_k of (8) and (9).
  Formulas(const Inputs& in, const Contract& contract, double W, double W_q, double W_k,
           const std::optional<Passed>& given = {}) {
    const auto [u_a, u_p, eta_p, u_o, eta_o, eta_e, u_in, u_m, kappa, c_e, u_d, scales_ds, chops_after] = contract;
    const int64_t shared = in.q.size(1) / in.k.size(1);
    const Range all{0, in.mask.length};
    const Tensor seen = visible_pairs(in.mask, all, all);
    const double tau = in.scale, d = double(in.q.size(3)), dv = double(in.v.size(3));
    const double unit = u_a * u_a / 3, in2 = u_in * u_in / 3;
    const double coarse = u_m > u_a ? u_m : 0, step = u_m > u_a ? eta_o : 0;
    const double partials = W_k * double(shared);

    const auto of_i = [](const Tensor& x) { return x.unsqueeze(3); };
    const auto of_j = [&](const Tensor& x) { return x.repeat_interleave(shared, 1).unsqueeze(2); };
    const Tensor q = of_i(in.q), k = of_j(in.k), v = of_j(in.v), dO = of_i(in.d_o);
    const auto row = [](const Tensor& x) { return x.sum(3, true); };
    const auto column = [&](const Tensor& x) {
      const Tensor sum = x.sum(2);
      return sum.view({sum.size(0), -1, shared, sum.size(2), sum.size(3)}).sum(2);
    };
    const auto dot = [](const Tensor& x) { return x.sum(4, true); };
    const auto sq = [](const Tensor& x) { return x * x; };
    const auto minimum = [](const Tensor& x, const Tensor& y) { return at::minimum(x, y); };
    const auto rho_p = [&](const Tensor& x) {
      return minimum(x.abs(), (u_p * x.abs()).clamp_min(eta_p));
    };
    const auto rho_o = [&](const Tensor& x) {
      return (u_o * x.abs()).clamp_min(std::max(eta_o, eta_e));
    };

    const Tensor sees = seen.unsqueeze(-1);  // [i, j, 1]
    const Tensor S = tau * dot(q * k);
    const Tensor m = S.masked_fill(~sees, -INFINITY).amax(3, true);
    const Tensor l = row(at::where(sees, (S - m).exp(), 0.));
    const Tensor L = m + l.log(), P = at::where(sees, (S - L).exp(), 0.), O = row(P * v);
    const Tensor D = dot(dO * O), G = dot(dO * v), T = P * (G - D);
    const Tensor dQ = tau * row(T * k), n = row(sees.to(at::kDouble).expand_as(P));
    const Tensor n_eff = n / kappa + kappa;
    const Tensor a_i = row(at::where(P < u_a, P, 0.));

    // (1), (2)
    const Tensor A = tau * dot((q * k).abs()), a2 = tau * tau * dot(sq(q * k));
    const Tensor B_S = (d * u_a + 2 * u_in) * A + 2 * u_a * S.abs();
    const Tensor s_S = unit * (d / (2 * kappa) * a2 + (d / (3 * kappa) + 2) * sq(S)) + in2 * 2 * a2;
    const Tensor B_E = B_S + u_a * (2 * (S - m).abs() + c_e);
    const Tensor s_E = s_S + unit * (2 * sq(S - m) + c_e * c_e);
    // (3)
    const Tensor B_L = given ? given->B_L : row(P * B_E) + n * u_a + 4 * (1 + W) * u_a * (1 + L.abs() + m.abs());
    const Tensor s_L = given ? given->s_L :
        row(sq(P) * s_E) + sq(a_i) +
            unit * (n_eff / 3 + 2 + 3 * (1 + W) * (1 + sq(m) + sq(L)) + c_e * c_e);
    // (4)
    const Tensor w = P * B_E, r = rho_p(P * l) / l, e_P = P.clamp_max(eta_e);
    const Tensor M = (v.abs() * sees).amax(3, true);
    const Tensor spread = (row(w) * row(w * sq(v - O))).sqrt();
    EXPECT_TRUE((spread * (1 + 1e-12) >= row(w * (v - O).abs())).all().item<bool>());
    const Tensor B_O = spread + row((r + e_P + u_in * P) * v.abs()) +
                       (n * u_a + 4 * W * u_a * (1 + L.abs()) + u_m) * row(P * v.abs()) + rho_o(O) +
                       n * eta_e + step + 6 * u_d * M;
    const Tensor g = sq(O) + row(sq(P) * sq(v));
    const auto lost = [&](const Tensor& terms) {
      return chops_after == 0 ? at::zeros_like(terms) : sq(0.18 * u_a * terms / chops_after);
    };
    const Tensor normaliser = unit * (n_eff / 2 + 4 + W * (c_e * c_e + 4 * sq(L) + 4)) + lost(n);
    const Tensor s_O = row(sq(P) * s_E * sq(v - O) + ((sq(r) + sq(e_P)) / 3 + sq(P) * in2) * sq(v)) +
                       g * normaliser + sq(a_i) * sq(O) + g * (coarse * coarse / 3) + u_p * u_p / 3 * sq(O) +
                       (sq(rho_o(O)) + sq(n * eta_e) + step * step) / 3 + 4 * sq(u_d * M);
    // (5)
    const Tensor B_D = given ? given->B_D : dot(dO.abs() * B_O) + dv * u_a * dot((dO * O).abs());
    const Tensor s_D = given ? given->s_D : dot(sq(dO) * s_O) + sq(D) * (normaliser + sq(a_i)) +
                       unit * ((dv / 2 + 2) * dot(sq(dO * O)) + dv / 3 * sq(D));
    // (6)
    const Tensor B_G = (dv * u_a + 2 * u_in) * dot((dO * v).abs());
    const Tensor g2 = dot(sq(dO * v));
    const Tensor s_G =
        unit * (dv / (2 * kappa) * g2 + (dv / (3 * kappa) + 2) * sq(G)) + in2 * 2 * g2;
    const Tensor X = (G - D).abs();
    const double eta_ds = scales_ds ? eta_p / std::min(1., std::abs(tau)) : eta_p;
    const Tensor rho_T = minimum(T.abs(), (u_p * T.abs()).clamp_min(eta_ds));
    const Tensor B_T = sees * (P * (B_E * X + B_G + 3 * u_a * (G.abs() + D.abs())) + rho_T +
                               u_in * T.abs() + e_P * X + eta_e);
    const Tensor s_T =
        sees * (sq(P) * (s_E * sq(X) + s_G + 2 * unit * (sq(G) + sq(D))) + sq(rho_T) / 3 +
                (u_a * u_a + u_in * u_in) / 3 * sq(T) + (sq(e_P) * sq(X) + eta_e * eta_e) / 3);
    // (7), (10)
    const double operand = u_p * u_p / 3, partial = coarse * coarse / 3;
    const Tensor B_dQ = tau * (row(B_T * k.abs()) + B_D * row(P * k).abs() +
                               (n * u_a + coarse) * row((T * k).abs())) +
                        B_L * dQ.abs() + tau * n * eta_e + rho_o(dQ) + W_q * step;
    const Tensor s_dQ = tau * tau *
                            (row(s_T * sq(k)) + s_D * sq(row(P * k)) + sq(row(P * s_G.sqrt() * k)) +
                             (unit * (n_eff / 2 + 2 + W_q) + lost(n) + partial) * row(sq(T * k))) +
                        (s_L + operand + unit * (n_eff / 2 + 2 + W_q) + lost(n) + partial) * sq(dQ) +
                        (sq(tau * n * eta_e) + sq(rho_o(dQ)) + W_q * step * step) / 3;
    // (8), (9), (10)
    const Tensor N = column(sees.to(at::kDouble).expand_as(P)), N_eff = N / kappa + kappa;
    const Tensor dK = tau * column(T * q), dV = column(P * dO);
    const Tensor B_dK = tau * column((B_T + P * B_D + T.abs() * (B_L + u_in)) * q.abs()) +
                        (N * u_a + coarse) * tau * column((T * q).abs()) + rho_o(dK) +
                        tau * N * eta_e + partials * step;
    const Tensor s_dK =
        tau * tau *
            (column((s_T + sq(P) * s_D + sq(T) * s_L) * sq(q)) + sq(column(P * s_D.sqrt() * q)) +
             sq(column(T * s_L.sqrt() * q)) + sq(column(P * s_G.sqrt() * q))) +
        operand * sq(dK) +
        (unit * (N_eff / 2 + 2 + W_k) + lost(N) + partial) * (sq(dK) + tau * tau * column(sq(T * q))) +
        (sq(rho_o(dK)) + sq(tau * N * eta_e) + partials * step * step) / 3;
    const Tensor B_dV = column((P * (B_E + B_L + 2 * u_in) + rho_p(P) + e_P) * dO.abs()) +
                        (N * u_a + coarse) * column(P * dO.abs()) + rho_o(dV) + N * eta_e +
                        partials * step;
    const Tensor s_dV = column((sq(P) * (s_E + s_L + (u_a * u_a + 2 * u_in * u_in) / 3) +
                                (sq(rho_p(P)) + sq(e_P)) / 3) *
                               sq(dO)) +
                        sq(column(P * s_L.sqrt() * dO)) + operand * sq(dV) +
                        (unit * (N_eff / 2 + 2) + lost(N) + partial) * (sq(dV) + column(sq(P * dO))) +
                        (sq(rho_o(dV)) + sq(N * eta_e) + partials * step * step) / 3;

    passed = {B_L, s_L, B_D, s_D};
    bound = {B_O.squeeze(3), B_L.flatten(2), B_dQ.squeeze(3), B_dK, B_dV};
    sigma = {s_O.squeeze(3).sqrt(), s_L.flatten(2).sqrt(), s_dQ.squeeze(3).sqrt(), s_dK.sqrt(),
             s_dV.sqrt()};
  }
};

// Sums of w (v - O)^2 are taken apart into sums of w v^2, w v and w, which cancel where one key has
// all the weight; a tenth of what the verdict grants for terms of second order is plenty.
constexpr double kSlack = 1e-4;

class BoundFormulas : public testing::TestWithParam<Arithmetic> {};

// Tiled, with products instead of sums over pairs, and with terms drawn together: the same. The backward
// pass computes scores and P anew, with its own arithmetic, from the forward pass's LSE and D.
TEST_P(BoundFormulas, AreEvaluatedAsWritten) {
  const Shape shape{.batch = 2, .q_heads = 4, .kv_heads = 2, .seq = 24, .dim = 8, .dim_v = 6};
  Contract contract = GetParam().contract();
  contract.kappa = 4;
  contract.u_in = 0x1p-11;
  contract.u_d = 0x1p-12;
  contract.eta_e = 0x1p-14;  // large enough that what underflows shows
  contract.u_a *= 0x1p9;  // so that some P is below it
  contract.chops_after = 2;
  Contract backward = contract;
  backward.eta_p = 0x1p-12;
  backward.scales_ds = true;
  backward.u_a *= 8;
  backward.u_in = 0x1p-10;
  backward.c_e = 32;
  backward.chops_after = 3;
  for (const auto& [name, mask] : masks(shape.seq)) {
    if (name.find("pads") != std::string::npos)
      continue;
    for (const Family family :
         {Family::kSpread3, Family::kOutliers, Family::kOffset, Family::kFlat}) {
      const Inputs inputs = draw(shape, mask, 1, family, GetParam().storage);
      const Judgement judged = judge(inputs, {contract, backward}, {3, 20, 70}, Rope{}, {.rows = 7, .columns = 10});
      const Formulas forward(inputs, contract, 3, 3, 3), gradients(inputs, backward, 3, 20, 70, forward.passed);
      for (const auto& [tensor, field] : kFields) {
        const std::string where = name + ", " + name_of(family) + ", " + tensor;
        const Formulas& expected = field == &Tensors::o || field == &Tensors::lse ? forward : gradients;
        EXPECT_TRUE(at::allclose(judged.bound.*field, expected.bound.*field, kSlack, 0)) << where;
        EXPECT_TRUE(at::allclose(judged.sigma.*field, expected.sigma.*field, kSlack, 0)) << where;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BoundFormulas,
                         testing::Values(Arithmetic{"bf16", at::kBFloat16, at::kFloat, true, false},
                                         Arithmetic{"fp16_partials", at::kHalf, at::kFloat, true,
                                                    true},
                                         Arithmetic{"fp32", at::kFloat, at::kFloat, false, false}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ringcheck::reference_testing
