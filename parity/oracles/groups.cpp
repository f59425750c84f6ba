// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Ranks of a group are not those of the world, as beside tensor and data parallelism.
std::vector<Run> runs(const Case& test) {
  if (test.world_kind != "thread" || test.world == 1) return {};
  Run run{test};
  run.beside_another_group = true;
  return {run};
}

const Oracles::Add registered{
    "groups",
    {.proves = "in a group of a group of ranks, in reverse order and beside another group at work, F has "
               "the same bits",
     .judge = same_bits_in_all_runs, .variations = runs, .rigour = Oracle::Rigour::kExact,
     .cost = "further runs", .needs = "several ranks that are threads",
     .demand = {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
