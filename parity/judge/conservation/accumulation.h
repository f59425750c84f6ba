// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ringcheck::parity {

// Sums that are kept in a format of unit roundoff u and underflow step eta, and rounded to it
// whenever `length` more terms have joined them, which were added up as the contract says.
struct Accumulation {
  double u = 0, eta = 0;
  int64_t length = 1;
};

// `bf16[256]`: bf16, a rounding for every 256 terms. Throws BadCase that names value and fix.
Accumulation parse_accumulation(const std::string& text);

}  // namespace ringcheck::parity
