// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/reference_rope.h"

#include <ATen/ATen.h>

#include "reference/tiles/turn.h"

namespace ringcheck::parity {

reference::Rope reference_rope(const Case& test) {
  using Pairing = reference::Rope::Pairing;
  reference::Rope rope;
  switch (test.rope.pairing) {
    case Rope::Pairing::kNone: rope.pairing = Pairing::kNone; break;
    case Rope::Pairing::kHalf: rope.pairing = Pairing::kHalf; break;
    case Rope::Pairing::kInterleaved: rope.pairing = Pairing::kInterleaved; break;
  }
  rope.base = test.rope.base;
  rope.scaled = test.rope.llama3.has_value();
  if (const auto& s = test.rope.llama3)
    rope.llama3 = {s->factor, s->low, s->high, s->original_length};
  return rope;
}

reference::Rope reference_rope(const Case& test, const Promise& promise) {
  reference::Rope rope = reference_rope(test);
  rope.u_angle = promise.u_angle;
  return rope;
}

at::Tensor pair_norms(const at::Tensor& x, reference::Rope::Pairing pairing) {
  const at::Tensor one = at::ones({}, x.options());
  return reference::mix_pairs(x.square(), pairing, one, one, one).sqrt();
}

}  // namespace ringcheck::parity
