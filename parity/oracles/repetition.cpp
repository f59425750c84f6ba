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

OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict = same_bits_in_all_runs(evidence);
  demand_same_records(evidence, moved_and_attended, "moves or attends something else when it is called again", verdict);
  return verdict;
}

const Oracles::Add registered{
    "repetition",
    {"F again, on fresh communicators and on those used before, gives the same bits of O, "
     "LSE, dQ, dK and dV, and every rank moves and attends the same",
     judge, runs,
     Oracle::Rigour::kExact, "further runs",
     "",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
