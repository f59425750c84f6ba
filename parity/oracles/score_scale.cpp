// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

std::vector<Run> runs(const Case& test) {
  if (!multiplies_exactly(test)) return {};
  return {changed(test, [](Problem& p, const auto&) {
    p.q.mul_(4);
    p.k.mul_(0.25);
  })};
}

OracleVerdict judge(const Evidence& e) {
  const reference::Tensors& actual = e.variations.front().tensors;
  reference::Tensors expected = e.outcome.tensors;
  expected.dq = multiple(0.25, expected.dq, actual.dq);
  expected.dk = multiple(4, expected.dk, actual.dk);
  return identical(e.test, actual, expected);
}

const Oracles::Add registered{
    "score-scale",
    {"F(cQ, K/c, V) = F(Q, K, V) bit for bit for a power of two c, with dQ/c and c dK", judge, runs,
     Oracle::Rigour::kExact, "further runs", "",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
