// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/pads.h"

#include <ATen/ATen.h>

#include <cmath>

namespace ringcheck::parity {
namespace {

// `empty` is what a pad slot must hold.
int64_t wrong(const at::Tensor& x, const std::vector<int64_t>& pads, double empty) {
  if (!x.defined() || pads.empty() || x.dim() < 3 || x.size(2) <= pads.back()) return 0;
  const at::Tensor slots = at::tensor(pads, at::kLong).to(x.device());
  return x.index_select(2, slots).ne(empty).sum().item<int64_t>();
}

// Not asked of the code that is judged.
std::vector<int64_t> slots_without_token(const Mask& mask, const Positions& positions) {
  std::vector<int64_t> pads;
  int64_t slot = 0;
  for (const int64_t position : flatten(positions)) {
    if (!is_token(mask, position)) pads.push_back(slot);
    ++slot;
  }
  return pads;
}

}  // namespace

int64_t wrong_pads(const Case& test, const Positions& queries, const Positions& keys,
                   const RankOutput& output) {
  const auto pads = slots_without_token(mask_of(test), queries);
  const auto pads_of_keys = slots_without_token(mask_of(test), keys);
  return wrong(output.o, pads, 0) + wrong(output.lse, pads, -INFINITY) + wrong(output.dq, pads, 0) +
         wrong(output.dk, pads_of_keys, 0) + wrong(output.dv, pads_of_keys, 0);
}

}  // namespace ringcheck::parity
