// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cp/attention/attention_kernel.h"

namespace ringcheck::parity {

// How a kernel adds up and exponentiates on this hardware, seen from outside by sums of which the
// answer is known (Fasi, Higham, Mikaitis and Pranesh 2021).
struct Arithmetic {
  int64_t bits = 0;      // significant bits that the sum of P V keeps, in ten orders of three keys
  bool chops = false;    // what lies below them is dropped, not rounded to nearest
  double lse_error = 0;  // the largest of a sweep of the exponent, in units of roundoff()
  // kappa of docs/numerics.md: 256 terms over how many of them a large one met alone, and swallowed.
  int64_t kappa = 1;
  // c_e, in units of roundoff(): the largest relative error of e^-x that nothing else explains, as LSE
  // shows it, and as dV does, which is P itself; more than that where a kernel rounds P or dV to 16 bits.
  double exp_error = 0, backward_exp_error = 0;

  double roundoff() const;  // of one addition: 2^-bits, twice that where it chops
};

// Of a kernel that takes 256 queries and keys of dim 64 under a full mask.
Arithmetic arithmetic_of(const AttentionKernel& kernel, at::ScalarType dtype, at::Device device);

}  // namespace ringcheck::parity
