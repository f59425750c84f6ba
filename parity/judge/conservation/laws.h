// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "parity/judge/conservation/accumulation.h"
#include "parity/judge/conservation/conservation_sums.h"
#include "reference/errors/contract.h"

namespace ringcheck::parity {

// How the numbers were computed.
struct Arithmetic {
  reference::Contract contract;
  double scale = 1;  // softmax scale
  int world = 1;     // partial results merged
  // q, k and their gradients are those after the rotary embedding, or there is none. Otherwise C2
  // cannot be had, and C3 only over all channels together: rotations keep inner products.
  bool rotated = true;
  std::optional<Accumulation> gradients = {};  // how dQ, dK and dV are added up, where that is coarser
  double gradient_terms = 0;  // of a gradient, that are rounded as it is, before they are added
};

// One of the four laws of docs/conservation.md for every (batch, kv head).
struct Law {
  const char* name;  // C1 ... C4
  const char* says;
  at::Tensor difference;  // [batch, kv_heads, channels or 1]; linear in the sums, so it adds up
  at::Tensor variance;    // of it, as rounding explains it
  at::Tensor wrong;       // what the difference would be for a plainly wrong result
  bool whole = false;     // over all channels together
};

// C1 to C4. The sums are of the whole sequence; of a part only the differences mean something.
std::vector<Law> laws_of(const ConservationSums& sums, const Arithmetic& how);

}  // namespace ringcheck::parity
