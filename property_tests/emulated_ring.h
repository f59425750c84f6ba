// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <iosfwd>
#include <string>

#include "reference/attention.h"
#include "reference/contract.h"

namespace ringcheck::reference_testing {

// How an implementation rounds: inputs and results are stored in one type, sums are taken in
// another, and P and dS may be rounded to the storage type before the second product.
struct Arithmetic {
  std::string name;
  at::ScalarType storage = at::kFloat;
  at::ScalarType accumulation = at::kFloat;
  bool narrow_operands = false;
  bool narrow_partials = false;  // partial gradients are rounded to the storage type

  reference::Contract contract() const;
};

void PrintTo(const Arithmetic& arithmetic, std::ostream* os);

// Ring attention over `world` contiguous shards with the rounding of `arithmetic` and no
// communication: partial results merged in ring order, gradients added in ring order. The inputs
// must be exact in the storage type; the results come back as float64.
reference::Tensors emulated_ring(const reference::Inputs& inputs, const Arithmetic& arithmetic,
                                 int world);

}  // namespace ringcheck::reference_testing
