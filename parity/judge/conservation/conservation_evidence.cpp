// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/conservation_evidence.h"

#include <ATen/ATen.h>

#include <algorithm>

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
  const auto tokens = [&](const at::Tensor& x) { return without_pads(test, x); };
  const auto turned = [&](const at::Tensor& gradient) {
    return turn ? reference::rotate(gradient.to(at::kDouble), mask, reference_rope(test)) : gradient;
  };
  const auto size = [&](const at::Tensor& gradient) {
    return turn ? pair_norms(gradient.to(at::kDouble), reference_rope(test).pairing) : at::Tensor();
  };
  return {tokens(turn ? outcome.q_rotated : problem.q),
          tokens(problem.d_o),
          outcome.tensors.o,
          turned(outcome.tensors.dq),
          tokens(turn ? outcome.k_rotated : problem.k),
          tokens(problem.v),
          turned(outcome.tensors.dk),
          outcome.tensors.dv,
          {},
          size(outcome.tensors.dq),
          size(outcome.tensors.dk)};
}

// Turning back and forth costs some units of the accumulation type, and what the angle of the last
// position may be off.
Arithmetic arithmetic_of(const Case& test, const Promise& promise, const Outcome& outcome) {
  Arithmetic how{promise.contract, scale_of(test), promise.partials,
                 !has_rope(test) || shows_rotated(test, outcome)};
  if (!has_rope(test)) return how;
  const double rate = std::ranges::max(
      reference::angle_error_rates(reference_rope(test, promise), test.dim));
  how.contract.u_o += 8 * how.contract.u_a + rate * static_cast<double>(test.seq);
  return how;
}

}  // namespace ringcheck::parity
