// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/relation.h"

namespace ringcheck::parity {
namespace {

// Queries and their dO in reverse order, where every one of them sees every key.
std::vector<Run> runs(const Case& test) {
  if (!std::holds_alternative<Full>(test.mask) || test.rope.pairing != Rope::Pairing::kNone)
    return {};
  return {{test, [](const Case& c, const Positions& positions) {
             Problem problem = problem_of(c, positions);
             const Problem other = problem_of(c, mirrored(positions, c.seq));
             problem.q = other.q;
             problem.d_o = other.d_o;
             return problem;
           }}};
}

OracleVerdict judge(const Evidence& e) {
  const Measured other = measured(runs(e.test).front(), e.variations.front(), e.tick);
  const Image in_order = [](const reference::Tensors& x) {
    return reference::Tensors{x.o.flip(2), x.lse.flip(2), x.dq.flip(2), x.dk, x.dv};
  };
  return agree(e.test, measured({e.test}, e.outcome, e.tick), image(other, in_order));
}

const Oracles::Add registered{
    "query-order",
    {"permuting queries permutes O, LSE and dQ and leaves dK and dV, within bounds", judge, runs,
     Oracle::Rigour::kBound, "further runs, and parity of each"}};

}  // namespace
}  // namespace ringcheck::parity
