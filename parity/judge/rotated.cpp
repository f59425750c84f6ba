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

// A rotated pair (a, b) may be off by |a| + |b| times the error of sine and cosine, two units of
// the accumulation type and the products, and by its one rounding to the dtype. In float64 nothing
// rounds the frequency to fewer bits: two evaluations of it differ by some units, and the angle of
// position p by p times as many. As sigma serves a third of it: rounding errors are bounded, not
// Gaussian.
struct Expected {
  at::Tensor value, bound;
};

// Of [heads, 1, seq, dim], unrotated, in float64.
Expected expected(const Case& test, const reference::Contract& contract,
                  const at::Tensor& unrotated) {
  const reference::Rope rope = reference_rope(test);
  const at::Tensor value = reference::rotate(unrotated, mask_of(test), rope);
  const at::Tensor one = at::ones({}, at::kDouble);
  const at::Tensor magnitude =  // |a| + |b| of the pair
      reference::mix_pairs(unrotated.abs(), rope.pairing, one, one, one);
  const double rounding = test.dtype == at::kFloat ? 0x1p-24 : contract.u_o;
  const double angle = test.dtype == at::kDouble ? 16 * static_cast<double>(test.seq) : 0;
  const at::Tensor turning = magnitude * ((8 + angle) * contract.u_a);
  return {value, turning + (value.abs() + turning) * rounding +
                     at::where(magnitude > 0, contract.eta_o + contract.eta_e, 0.0)};
}

// Some heads after the other: float64 copies of all would take much memory.
TensorVerdict judge_tensor(const Case& test, const reference::Contract& contract, const char* name,
                           const at::Tensor& actual, const at::Tensor& given) {
  if (actual.sizes() != given.sizes()) return misshapen(name, actual.sizes(), given.sizes());
  constexpr int64_t kElements = 1 << 26;
  const auto by_head = [](const at::Tensor& x) { return x.flatten(0, 1).unsqueeze(1); };
  const at::Tensor found = by_head(actual), unrotated = by_head(given);
  const std::vector<int64_t> positions = flatten({{0, test.seq}});
  const int64_t heads = std::max<int64_t>(1, kElements / (test.seq * test.dim));
  Tally sum;
  for (const reference::Range part : reference::ranges(found.size(0), heads)) {
    const auto some = [&](const at::Tensor& x) { return x.narrow(0, part.begin, part.size); };
    const Expected want = expected(
        test, contract, zero_pads(some(unrotated), mask_of(test), {{0, test.seq}}).to(at::kDouble));
    sum.add(tally({some(found), want.value, want.bound, want.bound / 3, part.begin, positions},
                  test.seq));
  }
  return judge(test, name, {.tally = sum, .groups = actual.size(1), .heads = 1});
}

}  // namespace

std::vector<TensorVerdict> judge_rotated(const Case& test, const Promise& promise,
                                         const Problem& problem, const Outcome& outcome) {
  return {judge_tensor(test, promise.contract, "q", outcome.q_rotated, problem.q),
          judge_tensor(test, promise.contract, "k", outcome.k_rotated, problem.k)};
}

}  // namespace ringcheck::parity
