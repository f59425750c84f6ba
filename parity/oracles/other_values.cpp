// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

std::vector<Run> runs(const Case& test) {
  Case other = test;
  other.seed = test.seed + 1;
  return {Run{other}};
}

// On a GPU all that is held depends on what an allocator does.
RankRecord moved_and_held(RankRecord record, const Case& test) {
  record.peak_bytes = 0;
  if (test.device != "cpu") record.forward_stock = record.backward_stock = {};
  return record;
}

OracleVerdict judge(const Evidence& e) {
  if (e.promise().counts.empty()) return not_applicable("the subject counts nothing");
  OracleVerdict verdict;
  verdict.contract = true;
  demand_same_records(e, moved_and_held, "moves or holds something else for other values", verdict);
  return verdict;
}

const Oracles::Add registered{
    "other-values",
    {"what a rank moves, holds and attends does not depend on the values of q, k, v and dO",
     judge, runs,
     Oracle::Rigour::kExact, "further runs"}};

}  // namespace
}  // namespace ringcheck::parity
