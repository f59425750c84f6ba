// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {
namespace {

Run filled(const Case& test, double value) {
  return {test, [value](const Case& c, const Positions& positions) {
            const Problem p = problem_of(c, positions);
            for (const at::Tensor& x : {p.q, p.k, p.v, p.d_o}) fill_pads(c, positions, x, value);
            return p;
          }};
}

// The run of the case itself has NaN there.
std::vector<Run> runs(const Case& test) {
  if (!has_pads(test)) return {};
  return {filled(test, 0), filled(test, 3e4)};
}

const Oracles::Add registered{
    "pads",
    {"what pad slots hold, zero, large or NaN, changes no bit of F", same_bits_in_all_runs, runs,
     Oracle::Rigour::kExact, "further runs", "",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
