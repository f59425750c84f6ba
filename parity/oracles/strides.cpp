// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// The same numbers in memory ordered [batch, slots, heads, channels], as a projection leaves them.
std::vector<Run> runs(const Case& test) {
  return {changed(test, [](Problem& p, const auto&) {
    for (at::Tensor* x : {&p.q, &p.k, &p.v, &p.d_o})
      *x = x->transpose(1, 2).contiguous().transpose(1, 2);
  })};
}

const Oracles::Add registered{
    "strides",
    {.proves = "with q, k, v and dO as views of tensors [batch, slots, heads, channels], F has the same "
               "bits",
     .judge = same_bits_in_all_runs, .variations = runs, .rigour = Oracle::Rigour::kExact,
     .cost = "further runs", .demand = {.same_bits = true}, .one_in = 12}};

}  // namespace
}  // namespace ringcheck::parity
