// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/attention/rotation.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Rank r adds in the order r, r-1, ..., r-P+1 whatever way blocks travel (docs/design.md, 1).
std::vector<Run> runs(const Case& test) {
  std::vector<Run> list;
  if (!deterministic(test)) return list;
  for (const auto& [name, entry] : Rotations::all())
    for (const bool keep : {false, true}) {
      if ((keep && !entry.can_keep) || (name == test.rotation && keep == test.keep)) continue;
      Case other = test;
      other.rotation = name;
      other.keep = keep;
      list.push_back({other});
    }
  return list;
}

const Oracles::Add registered{
    "rotations",
    {"F is the same, bit for bit, for every rotation of the blocks", same_bits_in_all_runs, runs,
     Oracle::Rigour::kExact, "further runs"}};

}  // namespace
}  // namespace ringcheck::parity
