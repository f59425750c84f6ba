// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/judge/exact/exact.h"
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

// Peaks depend on what an allocator does, on a GPU all that is held; `counters` bounds them. Pads are part of what has
// the same bits.
RankRecord exact(RankRecord record) {
  record.peak_bytes = 0;
  record.forward_stock = record.backward_stock = {};
  record.wrong_pads = {};
  return record;
}

OracleVerdict judge(const Evidence& e) {
  OracleVerdict verdict = same_bits_in_all_runs(e);
  if (verdict.status == Status::kFail || e.promise().counts.empty()) return verdict;
  for (size_t rank = 0; rank < e.outcome.ranks.size(); ++rank)
    if (exact(e.outcome.ranks[rank]) != exact(e.variations.front().ranks.at(rank))) {
      verdict.status = Status::kFail;
      verdict.contract = true;
      verdict.findings.push_back(c10::str("rank ", rank, " moves or attends something else in a group"));
    }
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
