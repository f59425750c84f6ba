// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// The same numbers in memory ordered [batch, slots, heads, channels], as a projection leaves them; and off the boundaries at
// which memory is allocated, as slices of a larger tensor lie: who reads many bytes at a time must bear that.
std::vector<Run> runs(const Case& test) {
  const auto laid_out = [&](at::Tensor (*elsewhere)(const at::Tensor&)) {
    return changed(test, [elsewhere](Problem& p, const auto&) {
      for (at::Tensor* x : {&p.q, &p.k, &p.v, &p.d_o}) *x = elsewhere(*x);
    });
  };
  return {laid_out([](const at::Tensor& x) { return x.transpose(1, 2).contiguous().transpose(1, 2); }), laid_out(one_into_memory)};
}

const Oracles::Add registered{
    "strides",
    {.proves = "with q, k, v and dO as views of tensors [batch, slots, heads, channels], and beginning an element into "
               "their memory, F has the same bits",
     .judge = same_bits_in_all_runs, .variations = runs, .rigour = Oracle::Rigour::kExact,
     .cost = "further runs", .demand = {.same_bits = true}, .one_in = 12}};

}  // namespace
}  // namespace ringcheck::parity
