// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/checks/pads.h"

#include <ATen/ATen.h>

#include <cmath>

#include "cp/layout/upload.h"

namespace ringcheck::parity {
namespace {

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

// `empty` is what a pad slot of a batch entry must hold.
int64_t wrong(const Case& test, const at::Tensor& x, const Positions& positions, double empty) {
  if (!x.defined() || x.dim() < 3 || x.size(0) != test.batch || x.size(2) != count(positions)) return 0;
  int64_t elements = 0;
  for (const Entries& some : entries_of(test)) {
    const auto pads = slots_without_token(some.mask, positions);
    if (pads.empty()) continue;
    const at::Tensor slots = uploaded(pads, x.device());
    elements += x.narrow(0, some.first, some.count).index_select(2, slots).ne(empty).sum().item<int64_t>();
  }
  return elements;
}

}  // namespace

WrongPads wrong_pads(const Case& test, const Positions& queries, const Positions& keys,
                     const RankOutput& output) {
  return {wrong(test, output.o, queries, 0), wrong(test, output.lse, queries, -INFINITY),
          wrong(test, output.dq, queries, 0), wrong(test, output.dk, keys, 0),
          wrong(test, output.dv, keys, 0)};
}

}  // namespace ringcheck::parity
