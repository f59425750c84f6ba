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

const Oracles::Add registered{
    "repetition",
    {"F run three times gives the same bits of O, LSE, dQ, dK and dV", same_bits_in_all_runs, runs,
     Oracle::Rigour::kExact, "further runs"}};

}  // namespace
}  // namespace ringcheck::parity
