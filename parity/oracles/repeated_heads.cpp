// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

int64_t group(const Case& test) { return test.q_heads / test.kv_heads; }

std::vector<Run> runs(const Case& test) {
  if (group(test) == 1) return {};
  Case every = test;
  every.kv_heads = test.q_heads;
  return {{every, [test](const Case&, const Positions& positions) {
             Problem p = problem_of(test, positions);
             p.k = p.k.repeat_interleave(group(test), 1);
             p.v = p.v.repeat_interleave(group(test), 1);
             return p;
           }}};
}

OracleVerdict judge(const Evidence& e) {
  const Measured other = measured(e, runs(e.test).front(), e.variations.front());
  const Image summed = [&](const reference::Tensors& x) {
    const auto over_group = [&](const at::Tensor& y) {
      return y.unflatten(1, {e.test.kv_heads, group(e.test)}).sum(2);
    };
    return reference::Tensors{x.o, x.lse, x.dq, over_group(x.dk), over_group(x.dv)};
  };
  return agree(e.test, measured(e, {e.test}, e.outcome), image(other, summed));
}

const Oracles::Add registered{
    "repeated-heads",
    {.proves = "grouped queries are ordinary heads with K and V repeated, dK and dV summed over the "
               "group, within bounds",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each",
     .reads = {"dk", "dv"}}};

}  // namespace
}  // namespace ringcheck::parity
