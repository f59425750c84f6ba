// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

constexpr double kFactor = 8;

std::vector<Run> runs(const Case& test) {
  if (!multiplies_exactly(test)) return {};
  return {changed(test, [](Problem& p, const auto&) { p.d_o.mul_(kFactor); })};
}

OracleVerdict judge(const Evidence& e) {
  const reference::Tensors &one = e.outcome.tensors, &many = e.variations.front().tensors;
  return identical(e.test, many,
                   {one.o, one.lse, multiple(kFactor, one.dq, many.dq),
                    multiple(kFactor, one.dk, many.dk), multiple(kFactor, one.dv, many.dv)});
}

const Oracles::Add registered{
    "gradient-scale",
    {"dO -> c dO multiplies dQ, dK and dV by c bit for bit for a power of two c", judge, runs,
     Oracle::Rigour::kExact, "further runs", "",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
