// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "parity/judge/oracle.h"

namespace ringcheck::parity {

// The key pi(i) with the largest score of every query, where that score is so far above all others
// that P is exactly one-hot. Found from q and k, in float64, where these lie.
struct Routes {  // on the CPU
  at::Tensor key;    // [batch, q_heads, seq] int64; 0 for a query that sees none
  at::Tensor score;  // [batch, q_heads, seq], S of that key; -inf for a query that sees none
};

// Throws std::logic_error where the scores of a query are closer than the data family promises.
Routes routes_of(const Evidence& evidence);

// How far O may be from v of that key, [batch, q_heads, 1, dim_v]: what merges by differences, a + w (b - a),
// leave of what they weight by 0 (docs/numerics.md, 6 u_d M). 0 where weights are promised.
at::Tensor error_of_merges(const Evidence& evidence);

}  // namespace ringcheck::parity
