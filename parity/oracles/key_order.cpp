// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Keys and values in reverse order.
std::vector<Run> runs(const Case& test) {
  return in_reverse(test, {&Problem::k, &Problem::v});
}

OracleVerdict judge(const Evidence& e) {
  const Measured other = measured(e, runs(e.test).front(), e.variations.front());
  const Image in_order = [](const reference::Tensors& x) {
    return reference::Tensors{x.o, x.lse, x.dq, x.dk.flip(2), x.dv.flip(2)};
  };
  return agree(e.test, measured(e, {e.test}, e.outcome), image(other, in_order));
}

const Oracles::Add registered{
    "key-order",
    {.proves = "permuting keys with their values permutes dK and dV and leaves O, LSE and dQ, within "
               "bounds",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each", .one_in = 3,
     .reads = {"dk", "dv"}}};

}  // namespace
}  // namespace ringcheck::parity
