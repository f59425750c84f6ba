// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Only threads can be another number of ranks.
std::vector<Run> runs(const Case& test) {
  return on_other_ranks(test, test.world == 1 ? std::vector{3, 2} : std::vector{2, 1});
}

OracleVerdict judge(const Evidence& e) {
  const Run other = runs(e.test).front();
  return agree(e.test, measured(e, {e.test}, e.outcome),
               measured(e, other, e.variations.front()));
}

const Oracles::Add registered{
    "worlds",
    {"F over P ranks is F over another number of ranks, within the bounds of both", judge, runs,
     Oracle::Rigour::kBound, "further runs, and parity of each"}};

}  // namespace
}  // namespace ringcheck::parity
