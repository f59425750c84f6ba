// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

bool has_pads(const Case& test) {
  const Mask mask = mask_of(test);
  for (const Positions& shard : layout_of(test).queries)
    for (const int64_t position : flatten(shard))
      if (!is_token(mask, position)) return true;
  return false;
}

Run filled(const Case& test, double value) {
  return changed(test, [mask = mask_of(test), value](Problem& p, const auto& positions) {
    for (size_t slot = 0; slot < positions.size(); ++slot)
      if (!is_token(mask, positions[slot]))
        for (at::Tensor* x : {&p.q, &p.k, &p.v, &p.d_o})
          x->select(2, static_cast<int64_t>(slot)).fill_(value);
  });
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
