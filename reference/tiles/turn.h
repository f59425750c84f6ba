// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/rope.h"

namespace ringcheck::reference {

// The angles of a rotary embedding: how far each slot turns each of its channel pairs. float64; the
// cosine and sine are not rounded further.
struct Turns {
  at::Tensor cos;  // [seq, dim / 2]
  at::Tensor sin;  // [seq, dim / 2]
};

// By position inside the document, on `device`. Throws std::invalid_argument where dim is odd.
Turns turns(const Mask& mask, const Rope& rope, int64_t dim, at::Device device);

// How far an implementation's angles may be from these, as angle_error_rates() says, [seq, dim / 2]; at
// most 2: a pair that is turned anyhow is off by no more than twice its length.
at::Tensor angle_errors(const Mask& mask, const Rope& rope, int64_t dim, at::Device device);

// Maps the channel pairs (a, b) of x [..., seq, dim] to
// (straight a + from_b b, from_a a + straight b).
at::Tensor mix_pairs(const at::Tensor& x, Rope::Pairing pairing, const at::Tensor& straight,
                     const at::Tensor& from_b, const at::Tensor& from_a);

}  // namespace ringcheck::reference
