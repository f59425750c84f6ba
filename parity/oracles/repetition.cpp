// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/relation.h"

namespace ringcheck::parity {
namespace {

std::vector<Run> runs(const Case& test) {
  if (!deterministic(test)) return {};
  return {Run{test}, Run{test}};
}

OracleVerdict judge(const Evidence& e) {
  std::vector<OracleVerdict> parts;
  for (const Outcome& again : e.variations)
    parts.push_back(identical(e.test, again.tensors, e.outcome.tensors));
  return all_of(std::move(parts));
}

const Oracles::Add registered{
    "repetition",
    {"F run three times gives the same bits of O, LSE, dQ, dK and dV", judge, runs,
     Oracle::Rigour::kExact, "further runs"}};

}  // namespace
}  // namespace ringcheck::parity
