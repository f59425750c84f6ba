// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

constexpr double kFactor = 4;

// Another scale, after that of the case: what was kept from the one must not serve the other.
std::vector<Run> runs(const Case& test) {
  if (!multiplies_exactly(test)) return {};
  Case other = test;
  other.scale = scale_of(test) / kFactor;
  // The same numbers, also where the data depend on the scale.
  return {{other, [test](const Case&, const Positions& positions) {
             Problem problem = problem_of(test, positions);
             problem.q.mul_(kFactor);
             return problem;
           }}};
}

OracleVerdict judge(const Evidence& e) {
  const reference::Tensors& actual = e.variations.front().tensors;
  reference::Tensors expected = e.outcome.tensors;
  expected.dq = multiple(1 / kFactor, expected.dq, actual.dq);
  expected.dk = multiple(1, expected.dk, actual.dk);
  return identical(e.test, actual, expected);
}

const Oracles::Add registered{
    "scale-in-query",
    {.proves = "F(cQ, K, V) under the scale tau / c is F(Q, K, V) under tau bit for bit for a power of "
               "two c, with dQ/c",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .needs = "an explicit scale", .demand = {.same_bits = true}, .one_in = 6}};

}  // namespace
}  // namespace ringcheck::parity
