// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace ringcheck::reference {

// What an implementation promises about its arithmetic: the constants of the error bounds
// (docs/numerics.md). u is a unit roundoff, eta half of the smallest subnormal of a format: to
// round x changes it by at most max(u |x|, eta). The defaults: float32 throughout.
struct Contract {
  double u_a = 0x1p-24;    // accumulation
  double u_p = 0x1p-24;    // operand rounding of P and dS before the second product
  double eta_p = 0;        // its underflow step
  double u_o = 0x1p-24;    // rounding of the outputs
  double eta_o = 0;        // its underflow step
  double eta_e = 0x1p-126; // below this the exponential is flushed to zero
  double u_in = 0;         // operand conversion (tf32: 2^-11)
  double u_m = 0x1p-24;    // rounding of a partial result before the merge
  double kappa = 1;        // K-block of the matrix unit: a chain of n has n/kappa + kappa roundings
  double c_e = 4;          // error of exp, in units of u_a
  double u_d = 0;          // rounding of a merge by differences, a + w (b - a); 0: by weights
  bool scales_ds = false;  // dS may become an operand after its multiplication by the scale
  double chops_after = 0;  // terms after which the matrix unit chops its sum, towards zero; 0: it rounds to nearest

  // The underflow step of dS. With a scale of 0 nothing of it is left that could be wrong.
  double ds_step(double scale) const {
    return scale == 0 || !scales_ds ? eta_p : eta_p / std::min(1., std::abs(scale));
  }

  // What a sum of n terms loses by chopping, relative to how large it grows: half a last place each time, which is 0.36
  // u_a (2^-23) of a number on the average, and on the way the sum is half as large.
  double lost_of(double n) const { return chops_after == 0 ? 0 : 0.18 * u_a * n / chops_after; }

  bool operator==(const Contract&) const = default;
};

// Of both passes: the backward pass of a kernel may compute in another precision than its forward
// pass. u_o and eta_o of `backward` are the rounding of the stored gradients.
struct Contracts {
  Contract forward, backward;

  Contracts(const Contract& both) : Contracts(both, both) {}  // an implementation's only contract
  Contracts(const Contract& first, const Contract& second) : forward(first), backward(second) {}
};

// How many partial results are merged, at most, each rounded by u_m: into a row of O, one of dQ, and one of dK and dV by the
// queries of one head. W, W_q and W_k of docs/numerics.md.
struct Partials {
  int of_o = 1, of_dq = 1, of_dkv = 1;

  Partials(int of_all) : Partials(of_all, of_all, of_all) {}
  Partials(int of_o, int of_dq, int of_dkv) : of_o(of_o), of_dq(of_dq), of_dkv(of_dkv) {}
  int of_gradients() const { return of_dq > of_dkv ? of_dq : of_dkv; }
};

}  // namespace ringcheck::reference
