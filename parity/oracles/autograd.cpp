// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Autograd runs the backward passes of a GPU on one thread: ranks of one process would wait for each
// other. What is kept shows after the third call.
std::vector<Run> runs(const Case& test) {
  if (test.world_kind == "thread" && test.device != "cpu") return {};
  Run run{test};
  run.by_autograd = true;
  run.calls = 3;
  return {run};
}

OracleVerdict judge(const Evidence& e) {
  OracleVerdict verdict = same_bits_in_all_runs(e);
  const Outcome& through = e.variations.front();
  demand_done(e, "the subject promised to be an operation of autograd, and was not called as one",
              verdict);
  for (size_t rank = 0; rank < through.ranks.size(); ++rank)
    if (const int64_t grown = through.ranks[rank].grown_bytes; grown > 0) {
      verdict.status = Status::kFail;
      verdict.findings.push_back(
          c10::str("rank ", rank, " holds ", grown,
                   " bytes more after a third call whose outputs and gradients are gone"));
      verdict.contract = true;
    }
  return verdict;
}

const Oracles::Add registered{
    "autograd",
    {.proves = "as an operation of autograd F and its gradients have the same bits, and nothing of a "
               "call outlives its tensors",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .needs = "a CPU, or ranks that are processes",
     .demand = {.same_bits = true, .autograd = true}}};

}  // namespace
}  // namespace ringcheck::parity
