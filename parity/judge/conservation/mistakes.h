// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parity/judge/conservation/conservation.h"

namespace ringcheck::parity {

// One (batch, kv head) with the query heads of its group, of all files in the order of their ranks,
// as the tensors stand, and by other readings; those that the shapes do not allow are empty.
struct Readings {
  using Files = std::vector<AttentionShard>;
  Files plain;
  Files transposed;  // sizes 1 and 2 exchanged: [batch, seq, heads, dim]
  Files strided;     // query head h belongs to kv head h modulo kv_heads
  Files repeated;    // runs of equal k heads taken for one
};

// A usual mistake, as it would have to be undone for every broken law to hold.
struct Fit {
  std::string mistake;  // its name in docs/conservation.md
  std::string says;
  std::optional<double> factor = {};  // by which something is too large
};

// Tries each of them. `how` is that of the plain reading.
std::vector<Fit> fitting_mistakes(const Readings& head, const Arithmetic& how);

}  // namespace ringcheck::parity
