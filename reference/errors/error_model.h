// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/errors/contract.h"

namespace ringcheck::reference {

// How an implementation computes in one pass: its contract, the number of partial results that it merges, and
// the lengths of its inner products. The numbered formulas of docs/numerics.md follow from it.
struct ErrorModel {
  Contract contract;
  double partials = 1;      // of a row: of O, or of dQ
  double key_partials = 1;  // of dK and dV, of one query head
  double dim = 1;    // terms of q k
  double dim_v = 1;  // terms of dO v

  // That of one rounding error of the accumulation, spread evenly over -u_a ... u_a.
  double unit_variance() const { return contract.u_a * contract.u_a / 3; }

  // The rounding of partial results where it is coarser than the accumulation, else 0.
  double partial_rounding() const { return contract.u_m > contract.u_a ? contract.u_m : 0; }

  // The underflow step of that rounding: partial results are rounded to the format of the results.
  double partial_step() const { return contract.u_m > contract.u_a ? contract.eta_o : 0; }

  // Roundings on the way through a chain of n additions: n / kappa + kappa, since a matrix unit
  // adds kappa terms at once (Blanchard, Higham, Lopez, Mary and Pranesh 2020). Element by element.
  at::Tensor effective(const at::Tensor& n) const;

  // The square of what a chain of n additions loses by chopping. All of it has one sign (Fasi, Higham, Mikaitis and
  // Pranesh 2021: tensor cores round towards zero).
  at::Tensor lost(const at::Tensor& n) const;

  // n eta_e: of a sum of n products, what is lost where each underflows. All may have one sign.
  at::Tensor flushed(const at::Tensor& n) const;

  // rho_o(x) = max(u_o |x|, eta_o, eta_e): x is stored as a result.
  at::Tensor output_rounding(const at::Tensor& x) const;
};

// Of both passes.
struct ErrorModels {
  ErrorModel forward, backward;

  ErrorModels(const ErrorModel& both) : ErrorModels(both, both) {}
  ErrorModels(const ErrorModel& first, const ErrorModel& second)
      : forward(first), backward(second) {}
};

// A bound B and a variance sigma^2 of the error of each element, float64 in one shape.
struct Error {
  at::Tensor bound;
  at::Tensor variance;
};

}  // namespace ringcheck::reference
