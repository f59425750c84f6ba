// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Ranks of a group are not those of the world, as beside tensor and data parallelism.
std::vector<Run> runs(const Case& test) {
  if (test.world < (test.world_kind == "thread" ? 2 : 3)) return {};
  Run run{test};
  run.in_other_group = true;
  return {run};
}

OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict = same_bits_in_all_runs(evidence);
  demand_same_records(evidence, moved_and_attended, "moves or attends something else in a group", verdict);
  return verdict;
}

const Oracles::Add registered{
    "groups",
    {.proves = "in a group in another order than the world's, of threads beside another group at work, F "
               "has the same bits, and every rank moves and attends the same",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact,
     .cost = "further runs", .needs = "two ranks that are threads, or three processes",
     .demand = {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
