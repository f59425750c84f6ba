// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/conservation_evidence.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cp/layout/shard.h"
#include "parity/judge/reference_rope.h"
#include "reference/rope.h"

namespace ringcheck::parity {
namespace {

bool has_rope(const Case& test) { return test.rope.pairing != Rope::Pairing::kNone; }

bool shows_rotated(const Case& test, const Outcome& outcome) {
  return has_rope(test) && outcome.q_rotated.defined() && outcome.k_rotated.defined();
}

AttentionShard at_slots(const AttentionShard& x, const Positions& own) {
  const auto slots = [&](const at::Tensor& t) { return t.defined() ? shard(t, 2, own) : t; };
  return {slots(x.q),  slots(x.d_o), slots(x.o), slots(x.dq),      slots(x.k), slots(x.v),
          slots(x.dk), slots(x.dv), slots(x.empty_rows), slots(x.dq_size), slots(x.dk_size)};
}

// The same positions, at most so many in each part.
std::vector<Positions> parts_of(const Positions& positions, int64_t most) {
  std::vector<Positions> parts;
  std::vector<Span> spans;
  int64_t room = most;
  for (Span span : positions)
    while (span.count > 0) {
      const int64_t taken = std::min(span.count, room);
      spans.push_back({span.begin, taken, span.stride});
      span.begin += taken * span.stride, span.count -= taken, room -= taken;
      if (room > 0) continue;
      parts.emplace_back(std::exchange(spans, {}));
      room = most;
    }
  if (!spans.empty() || parts.empty()) parts.emplace_back(std::move(spans));
  return parts;
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

ConservationSums sums_of_slots(const AttentionShard& whole, const Positions& own, int64_t most_elements) {
  check_shapes(whole);
  const int64_t each = whole.q.size(0) * whole.q.size(1) * std::max(whole.q.size(3), whole.o.size(3));
  ConservationSums sums;
  for (const Positions& some : parts_of(own, std::max<int64_t>(1, most_elements / std::max<int64_t>(1, each))))
    sums = sums + conservation_sums(at_slots(whole, some));
  return sums;
}

// Turning back and forth costs some units of the accumulation type, and what the angle of the last
// position may be off.
Arithmetic arithmetic_of(const Case& test, const Promise& promise, const Outcome& outcome) {
  Arithmetic how{promise.contract, scale_of(test), promise.partials,
                 !has_rope(test) || shows_rotated(test, outcome)};
  if (const reference::Contract backward = promise.contracts().backward; backward.u_m > backward.u_a)
    how.gradient_terms = static_cast<double>(test.q_heads / test.kv_heads) * promise.merged().of_gradients();
  if (!has_rope(test)) return how;
  const double rate = std::ranges::max(
      reference::angle_error_rates(reference_rope(test, promise), test.dim));
  how.contract.u_o += 8 * how.contract.u_a + rate * static_cast<double>(test.seq);
  return how;
}

}  // namespace ringcheck::parity
