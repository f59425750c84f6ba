// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Scores of hundreds, and rows of equal keys: ties.
std::vector<Run> runs(const Case& test) {
  return {changed(test, [](Problem& p, const auto&) {
            p.q.mul_(32);
            p.d_o.div_(32);  // dK stays among the numbers of fp16
          }),
          changed(test, [](Problem& p, const std::vector<int64_t>& positions) {
            for (size_t slot = 0; slot < positions.size(); ++slot)
              if (positions[slot] % 2 == 1)
                p.k.select(2, static_cast<int64_t>(slot)).masked_fill_(
                    p.k.select(2, static_cast<int64_t>(slot)).isfinite(), 0);
          })};
}

OracleVerdict judge(const Evidence& e) {
  std::vector<OracleVerdict> parts;
  const std::vector<Run> both = runs(e.test);
  for (size_t i = 0; i < both.size(); ++i)
    parts.push_back(right(e, both[i], e.variations[i]));
  return all_of(std::move(parts));
}

const Oracles::Add registered{
    "extremes",
    {"scores of hundreds and equal keys give finite, right results", judge, runs,
     Oracle::Rigour::kBound, "further runs, and parity of each"}};

}  // namespace
}  // namespace ringcheck::parity
