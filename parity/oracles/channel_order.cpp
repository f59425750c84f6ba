// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// q and k in another order of channels, every second one negated: an orthogonal matrix that rounds
// nothing. v and dO in reverse order of channels.
at::Tensor turned(const at::Tensor& x) {
  const at::Tensor sign = at::ones({x.size(3)}, x.options());
  sign.slice(0, 0, std::nullopt, 2).neg_();
  return x.roll(3, 3) * sign;
}
at::Tensor turned_back(const at::Tensor& x) {
  const at::Tensor sign = at::ones({x.size(3)}, x.options());
  sign.slice(0, 0, std::nullopt, 2).neg_();
  return (x * sign).roll(-3, 3);
}

std::vector<Run> runs(const Case& test) {
  if (test.rope.pairing != Rope::Pairing::kNone) return {};
  return {changed(test, [](Problem& p, const auto&) {
    p.q = turned(p.q);
    p.k = turned(p.k);
    p.v = p.v.flip(3);
    p.d_o = p.d_o.flip(3);
  })};
}

OracleVerdict judge(const Evidence& e) {
  const Measured other = measured(e, runs(e.test).front(), e.variations.front());
  const Image in_order = [](const reference::Tensors& x) {
    return reference::Tensors{x.o.flip(3), x.lse, turned_back(x.dq), turned_back(x.dk),
                              x.dv.flip(3)};
  };
  return agree(e.test, measured(e, {e.test}, e.outcome), image(other, in_order));
}

const Oracles::Add registered{
    "channel-order",
    {.proves = "F(QR, KR, VA) = F(Q, K, V) A for an orthogonal R and a permutation A of channels, "
               "within bounds",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each", .one_in = 12,
     .reads = {"dq", "dk", "dv"}}};

}  // namespace
}  // namespace ringcheck::parity
