// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/judge/exact/exact.h"

namespace ringcheck::parity {
namespace {

// The first two calls may leave behind what is kept for good.
std::vector<Run> runs(const Case& test) {
  Run run{test};
  run.calls = 5;
  return {run};
}

OracleVerdict judge(const Evidence& e) {
  OracleVerdict verdict;
  const std::vector<RankRecord>& ranks = e.variations.front().ranks;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].grown_bytes == RankRecord::kUnseen)
      return not_applicable(
          c10::str("rank ", rank, " allocates where nobody counts: in other threads"));
    if (ranks[rank].grown_bytes > 0)
      verdict.findings.push_back(c10::str("rank ", rank, " holds ", ranks[rank].grown_bytes,
                                          " bytes more after three more calls"));
  }
  if (verdict.findings.empty()) return verdict;
  verdict.status = Status::kFail;
  verdict.contract = true;
  return verdict;
}

const Oracles::Add registered{
    "leak",
    {.proves = "from its second call on a subject holds no more bytes after a call than after the one "
               "before, its outputs aside",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .of_form = true}};

}  // namespace
}  // namespace ringcheck::parity
