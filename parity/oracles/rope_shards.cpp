// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// One rank has the whole sequence, two have shards of it. Only threads can be another number.
std::vector<Run> runs(const Case& test) {
  if (test.rope.pairing == Rope::Pairing::kNone) return {};
  return on_other_ranks(test, {1, 2});
}

OracleVerdict judge(const Evidence& e) {
  const Outcome &one = e.outcome, &other = e.variations.front();
  if (!one.shows_rotated() || !other.shows_rotated())
    return not_applicable("the subject does not show its rotated q and k");
  return verdict_of({same_bits(e.test, "q", one.q_rotated, other.q_rotated),
                     same_bits(e.test, "k", one.k_rotated, other.k_rotated)});
}

const Oracles::Add registered{
    "rope-shards",
    {.proves = "rotating the shards of q and k gives the bits of the shards of the rotated q and k",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .needs = "RoPE, and ranks that are threads", .demand = {.same_bits = true}, .one_in = 10}};

}  // namespace
}  // namespace ringcheck::parity
