// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/relation.h"

namespace ringcheck::parity {
namespace {

// Keys and values in reverse order. Only where every query sees every key, and order means nothing.
std::vector<Run> runs(const Case& test) {
  if (!std::holds_alternative<Full>(test.mask) || test.rope.pairing != Rope::Pairing::kNone)
    return {};
  return {{test, [](const Case& c, const Positions& positions) {
             Problem problem = problem_of(c, positions);
             const Problem other = problem_of(c, mirrored(positions, c.seq));
             problem.k = other.k;
             problem.v = other.v;
             return problem;
           }}};
}

OracleVerdict judge(const Evidence& e) {
  const Measured other = measured(runs(e.test).front(), e.variations.front(), e.tick);
  const Image in_order = [](const reference::Tensors& x) {
    return reference::Tensors{x.o, x.lse, x.dq, x.dk.flip(2), x.dv.flip(2)};
  };
  return agree(e.test, measured({e.test}, e.outcome, e.tick), image(other, in_order));
}

const Oracles::Add registered{
    "key-order",
    {"permuting keys with their values permutes dK and dV and leaves O, LSE and dQ, within bounds", judge, runs,
     Oracle::Rigour::kBound, "further runs, and parity of each"}};

}  // namespace
}  // namespace ringcheck::parity
