// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/conservation_evidence.h"

#include <ATen/ATen.h>

#include "cp/layout/shard.h"
#include "parity/judge/reference_rope.h"
#include "reference/rope.h"

namespace ringcheck::parity {
namespace {

bool has_rope(const Case& test) { return test.rope.pairing != Rope::Pairing::kNone; }

bool shows_rotated(const Case& test, const Outcome& outcome) {
  return has_rope(test) && outcome.q_rotated.defined() && outcome.k_rotated.defined();
}

}  // namespace

AttentionShard attention_of(const Case& test, const Problem& problem, const Outcome& outcome) {
  const Mask mask = mask_of(test);
  const bool turn = shows_rotated(test, outcome);
  const auto tokens = [&](const at::Tensor& x) { return zero_pads(x, mask, {{0, test.seq}}); };
  const auto turned = [&](const at::Tensor& gradient) {
    return turn ? reference::rotate(gradient.to(at::kDouble), mask, reference_rope(test)) : gradient;
  };
  return {tokens(turn ? outcome.q_rotated : problem.q),
          tokens(problem.d_o),
          outcome.tensors.o,
          turned(outcome.tensors.dq),
          tokens(turn ? outcome.k_rotated : problem.k),
          tokens(problem.v),
          turned(outcome.tensors.dk),
          outcome.tensors.dv,
          {}};
}

// Turning back and forth costs some units of the accumulation type; a float64 angle is as exact as
// its frequency, whose error the position multiplies.
Arithmetic arithmetic_of(const Case& test, const Promise& promise, const Outcome& outcome) {
  Arithmetic how{promise.contract, scale_of(test), promise.partials,
                 !has_rope(test) || shows_rotated(test, outcome)};
  const double angle = test.dtype == at::kDouble ? 16 * static_cast<double>(test.seq) : 0;
  if (has_rope(test)) how.contract.u_o += how.contract.u_a * (8 + angle);
  return how;
}

}  // namespace ringcheck::parity
