// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/rotated.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "cp/layout/shard.h"
#include "parity/judge/comparison.h"
#include "parity/judge/reference_rope.h"
#include "reference/rope.h"
#include "reference/tiles/tiles.h"
#include "reference/tiles/turn.h"

namespace ringcheck::parity {
namespace {

// A rotated pair (a, b) may be off by |a| + |b| times the error of its angle, of sine and cosine, two
// units of the accumulation type and the products, and by its one rounding to the dtype. As sigma
// serves a third of it: rounding errors are bounded, not Gaussian.
struct Expected {
  at::Tensor value, bound;
};

// Of [heads, 1, seq, dim], unrotated, in float64.
Expected expected(const Case& test, const Promise& promise, const at::Tensor& unrotated) {
  const reference::Contract& contract = promise.contract;
  const reference::Rope rope = reference_rope(test, promise);
  const Mask mask = mask_of(test);
  const at::Tensor value = reference::rotate(unrotated, mask, rope);
  const at::Tensor error =
      reference::angle_errors(mask, rope, test.dim, unrotated.device()) + 8 * contract.u_a;
  const at::Tensor turning = reference::mix_pairs(unrotated.abs(), rope.pairing, error, error, error);
  const double rounding = test.dtype == at::kFloat ? 0x1p-24 : contract.u_o;
  return {value, turning + (value.abs() + turning) * rounding +
                     at::where(turning > 0, contract.eta_o + contract.eta_e, 0.0)};
}

// Some heads after the other: float64 copies of all would take much memory.
TensorVerdict judge_tensor(const Case& test, const Promise& promise, const char* name,
                           const at::Tensor& actual, const at::Tensor& given) {
  if (actual.sizes() != given.sizes()) return misshapen(name, actual.sizes(), given.sizes());
  constexpr int64_t kElements = 1 << 26;
  const auto by_head = [](const at::Tensor& x) { return x.flatten(0, 1).unsqueeze(1); };
  const at::Tensor found = by_head(actual);
  const at::Tensor unrotated = by_head(test.lengths.empty() ? given : without_pads(test, given));
  const std::vector<int64_t> positions = flatten({{0, test.seq}});
  const int64_t heads = std::max<int64_t>(1, kElements / (test.seq * test.dim));
  Tally sum;
  for (const reference::Range part : reference::ranges(found.size(0), heads)) {
    const auto some = [&](const at::Tensor& x) { return x.narrow(0, part.begin, part.size); };
    const Expected want = expected(
        test, promise, zero_pads(some(unrotated), mask_of(test), {{0, test.seq}}).to(at::kDouble));
    sum.add(tally({some(found), want.value, want.bound, want.bound / 3, part.begin, positions},
                  test.seq));
  }
  return judge(test, name, {.tally = sum, .groups = actual.size(1), .heads = 1});
}

}  // namespace

std::vector<TensorVerdict> judge_rotated(const Case& test, const Promise& promise,
                                         const Problem& problem, const Outcome& outcome) {
  return {judge_tensor(test, promise, "q", outcome.q_rotated, problem.q),
          judge_tensor(test, promise, "k", outcome.k_rotated, problem.k)};
}

}  // namespace ringcheck::parity
