// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/relation.h"

namespace ringcheck::parity {
namespace {

bool may_underflow(const Case& test) { return test.dtype == at::kHalf; }

std::vector<Run> runs(const Case& test) {
  if (may_underflow(test) || !deterministic(test)) return {};
  return {changed(test, [](Problem& p, const auto&) { p.v.mul_(4); })};
}

OracleVerdict judge(const Evidence& e) {
  const reference::Tensors& x = e.outcome.tensors;
  const reference::Tensors expected{x.o * 4, x.lse, x.dq * 4, x.dk * 4, x.dv};
  return identical(e.test, e.variations.front().tensors, expected);
}

const Oracles::Add registered{
    "value-scale",
    {"V -> cV multiplies O, dQ and dK by c bit for bit for a power of two c and leaves LSE "
     "and dV",
     judge, runs,
     Oracle::Rigour::kExact, "further runs"}};

}  // namespace
}  // namespace ringcheck::parity
