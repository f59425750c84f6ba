// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Ranks that are threads get new communicators for each run; the calls of a run share them.
std::vector<Run> runs(const Case& test) {
  Run again{test};
  again.calls = 2;
  return {Run{test}, again};
}

const Oracles::Add registered{
    "repetition",
    {"F again, on fresh communicators and on those used before, gives the same bits of O, "
     "LSE, dQ, dK and dV",
     same_bits_in_all_runs, runs,
     Oracle::Rigour::kExact, "further runs",
     "",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
