// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <algorithm>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Key heads in reverse order, each with the query heads that read it: the reverse of all heads. Batch
// entries in reverse order, each with its length.
std::vector<Run> runs(const Case& test) {
  Case other = test;
  std::ranges::reverse(other.lengths);
  return {{other, [test](const Case&, const Positions& positions) {
             const Problem p = problem_of(test, positions);
             return Problem{p.q.flip({0, 1}), p.k.flip({0, 1}), p.v.flip({0, 1}), p.d_o.flip({0, 1})};
           }}};
}

OracleVerdict judge(const Evidence& e) {
  const Measured other = measured(e, runs(e.test).front(), e.variations.front());
  const Image in_order = [](const reference::Tensors& x) {
    return reference::Tensors{x.o.flip({0, 1}), x.lse.flip({0, 1}), x.dq.flip({0, 1}),
                              x.dk.flip({0, 1}), x.dv.flip({0, 1})};
  };
  return agree(e.test, measured(e, {e.test}, e.outcome), image(other, in_order));
}

const Oracles::Add registered{
    "head-order",
    {.proves = "heads and batch entries do not know of each other: permuting them permutes F, within "
               "bounds",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each",
     .reads = {"lse", "dq", "dk", "dv"}}};

}  // namespace
}  // namespace ringcheck::parity
