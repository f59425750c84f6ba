// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Queries and their dO in reverse order.
std::vector<Run> runs(const Case& test) {
  return in_reverse(test, {&Problem::q, &Problem::d_o});
}

OracleVerdict judge(const Evidence& e) {
  const Measured other = measured(e, runs(e.test).front(), e.variations.front());
  const Image in_order = [](const reference::Tensors& x) {
    return reference::Tensors{x.o.flip(2), x.lse.flip(2), x.dq.flip(2), x.dk, x.dv};
  };
  return agree(e.test, measured(e, {e.test}, e.outcome), image(other, in_order));
}

const Oracles::Add registered{
    "query-order",
    {.proves = "permuting queries permutes O, LSE and dQ and leaves dK and dV, within bounds",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each", .one_in = 4,
     .reads = {"lse", "dq"}}};

}  // namespace
}  // namespace ringcheck::parity
