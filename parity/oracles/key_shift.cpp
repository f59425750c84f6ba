// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Multiples of 1/8 below 8, so that the shifted keys are numbers of every dtype.
void coarse(Problem& problem) { problem.k.mul_(8).round_().div_(8).clamp_(-7.875, 7.875); }

at::Tensor shift(const at::Tensor& like) {
  const at::Tensor channel = at::arange(like.size(3), like.options().dtype(at::kDouble));
  return ((channel * 7).remainder(9) - 4) / 4;  // [dim]
}

std::vector<Run> runs(const Case& test) {
  if (test.rope.pairing != Rope::Pairing::kNone) return {};
  return {changed(test, [](Problem& p, const auto&) { coarse(p); }),
          changed(test, [](Problem& p, const auto&) {
            coarse(p);
            p.k.add_(shift(p.k).to(p.k.scalar_type()));
          })};
}

OracleVerdict judge(const Evidence& e) {
  const std::vector<Run> both = runs(e.test);
  Measured before = measured(e, both[0], e.variations[0]);
  const Measured after = measured(e, both[1], e.variations[1]);
  const at::Tensor q = e.problem.q.to(at::kDouble).nan_to_num(0);
  before.value.lse = before.value.lse + scale_of(e.test) * q.matmul(shift(q));
  before.value.dq.reset();  // it changes by sum_j dS_ij a, which is 0: the two cancel to the rounding
  return agree(e.test, after, before);
}

const Oracles::Add registered{
    "key-shift",
    {.proves = "k_j -> k_j + a leaves O, dK and dV and adds tau q_i a to LSE_i, within bounds",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each", .one_in = 10,
     .reads = {"lse"}}};

}  // namespace
}  // namespace ringcheck::parity
