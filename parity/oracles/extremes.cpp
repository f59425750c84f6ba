// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cmath>

#include "parity/judge/relation.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {
namespace {

// Scores of hundreds, rows of equal keys: ties; and, where no rotation turns them, scores far below
// zero in every row, so that L is, too: an empty row has L = -inf and no other.
std::vector<Run> runs(const Case& test) {
  if (rounds_alike(test) || fills_its_range(test)) return {};
  return {changed(test, [](Problem& p, const auto&) {
            p.q.mul_(32);
            p.d_o.div_(32);  // dK stays among the numbers of fp16
          }),
          changed(test, [negative = std::copysign(1.0, scale_of(test))](Problem& p, const auto&) {
            p.q.abs_().mul_(128);
            p.k.abs_().mul_(-negative);
            p.d_o.div_(128);
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
  const std::vector<Run> all = runs(e.test);
  for (size_t i = 0; i < all.size(); ++i)
    parts.push_back(right(e, all[i], e.variations[i]));
  return all_of(std::move(parts));
}

const Oracles::Add registered{
    "extremes",
    {"scores of hundreds, of either sign, and equal keys give finite, right results", judge, runs,
     Oracle::Rigour::kBound, "further runs, and parity of each", "keys that differ, and room for larger numbers in the dtype"}};

}  // namespace
}  // namespace ringcheck::parity
