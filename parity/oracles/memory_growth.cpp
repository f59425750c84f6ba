// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <algorithm>

#include "parity/case/balance/own_balance.h"
#include "parity/case/data_family.h"
#include "parity/judge/exact/exact.h"
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// Indexes of positions, and blocks that an allocator rounds up.
constexpr int64_t kOddsAndEnds = 16 << 10;
constexpr double kShare = 0.01;

// Half of the ranks, but enough for every buffer, with shards of the same size.
std::vector<Run> runs(const Case& test) {
  const bool any_length =
      std::holds_alternative<Full>(test.mask) || std::holds_alternative<Causal>(test.mask);
  if (!any_length || !test.lengths.empty() || test.world_kind != "thread" || test.world < 8 || test.world % 2 != 0)
    return {};
  if (test.seq % granule_of(test) != 0) return {};
  Case half = test;
  half.world = test.world / 2;
  half.seq = test.seq / 2;
  if (!has_own_tensors(test)) return {Run{half}};
  return {Run{half, [test](const Case&, const Positions& p) { return problem_of(test, p); }}};  // the first half of them
}

struct Held {
  int64_t peak = 0, kv = 0;
};
Held held_in(const std::vector<RankRecord>& ranks) {
  Held most;
  for (const RankRecord& rank : ranks) {
    most.peak = std::max(most.peak, rank.peak_bytes);
    most.kv = std::max(most.kv, rank.kv_bytes);
  }
  return most;
}

int64_t peak_of(const Case& test) {
  int64_t most = 0;
  for (const ExpectedCounters& rank : expected_counters(test)) most = std::max(most, rank.peak_bytes);
  return most;
}

// What a strategy may hold more of, its closed form says; of other subjects blocks of K and V.
int64_t more_of(const Evidence& e, const Held& here, const Held& half) {
  const int64_t more = e.promise().by_strategy ? peak_of(e.test) - peak_of(runs(e.test).front().test)
                                               : here.kv - half.kv;
  return std::max<int64_t>(0, more);
}

OracleVerdict judge(const Evidence& e) {
  const Held here = held_in(e.outcome.ranks), half = held_in(e.variations.front().ranks);
  const int64_t blocks = more_of(e, here, half);
  const int64_t odds = std::max(kOddsAndEnds, static_cast<int64_t>(kShare * half.peak));
  OracleVerdict verdict;
  if (here.peak <= half.peak + blocks + odds) return verdict;
  verdict.status = Status::kFail;
  verdict.contract = true;
  verdict.findings.push_back(c10::str(
      "peak bytes of a rank: ", here.peak, " on ", e.test.world, " ranks, ", half.peak, " on ",
      e.test.world / 2, " with shards of the same size; at most ", blocks + odds,
      " more expected"));
  return verdict;
}

const Oracles::Add registered{
    "memory-growth",
    {.proves = "shards of a fixed size need no more memory where there are more ranks, but for what "
               "the strategy holds",
     .judge = judge, .variations = runs, .cost = "further runs", .demand = {.counts_memory = true},
     .of_form = true, .one_in = 1}};

}  // namespace
}  // namespace ringcheck::parity
