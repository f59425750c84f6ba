// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

std::vector<Run> runs(const Case& test) {
  if (!multiplies_exactly(test)) return {};
  return {changed(test, [](Problem& p, const auto&) { p.v.mul_(4); })};
}

OracleVerdict judge(const Evidence& e) {
  const reference::Tensors &one = e.outcome.tensors, &many = e.variations.front().tensors;
  return identical(e.test, many,
                   {multiple(4, one.o, many.o), one.lse, multiple(4, one.dq, many.dq),
                    multiple(4, one.dk, many.dk), one.dv});
}

const Oracles::Add registered{
    "value-scale",
    {"V -> cV multiplies O, dQ and dK by c bit for bit for a power of two c and leaves LSE "
     "and dV",
     judge, runs,
     Oracle::Rigour::kExact, "further runs", "",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
