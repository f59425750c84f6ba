// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Multiples of 1/8 below 4, whose sums are numbers of every dtype.
at::Tensor coarse(const at::Tensor& v) { return (v * 8).round().div(8).clamp(-3.875, 3.875); }
at::Tensor other(const at::Tensor& v) { return coarse(v.roll(1, 3) * -1); }

std::vector<Run> runs(const Case& test) {
  return {changed(test, [](Problem& p, const auto&) { p.v = coarse(p.v); }),
          changed(test, [](Problem& p, const auto&) { p.v = other(p.v); }),
          changed(test, [](Problem& p, const auto&) { p.v = coarse(p.v) + other(p.v); })};
}

OracleVerdict judge(const Evidence& e) {
  const std::vector<Run> all = runs(e.test);
  const Measured a = measured(e, all[0], e.variations[0]);
  const Measured b = measured(e, all[1], e.variations[1]);
  const Measured sum = measured(e, all[2], e.variations[2]);
  const auto add = [](const reference::Tensors& x, const reference::Tensors& y) {
    return reference::Tensors{x.o + y.o, {}, x.dq + y.dq, x.dk + y.dk, {}};
  };
  return agree(e.test, sum, {add(a.value, b.value), add(a.bound, b.bound), add(a.sigma, b.sigma)});
}

const Oracles::Add registered{
    "value-sum",
    {.proves = "F is linear in V: O, dQ and dK of V1 + V2 are the sums of those of V1 and V2, within "
               "bounds",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each",
     .reads = {"dq", "dk"}}};

}  // namespace
}  // namespace ringcheck::parity
