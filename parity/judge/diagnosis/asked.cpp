// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/asked.h"

#include <ATen/ATen.h>

#include "parity/judge/reference_rope.h"

namespace ringcheck::parity {
namespace {

// Of each slot inside its document.
at::Tensor positions_in_documents(const Mask& mask) {
  at::Tensor positions = at::arange(mask.length, at::kDouble);
  if (const Documents* packed = documents(mask))
    for (int64_t p = 0; p < mask.length; ++p) positions.mutable_data_ptr<double>()[p] = static_cast<double>(place(*packed, p).token);
  return positions;
}

}  // namespace

Asked asked_of(const Case& test, const Problem& problem, int64_t entry, int64_t head, const at::Tensor& pairs) {
  const int64_t group = test.q_heads / test.kv_heads;
  const Mask mask = mask_of(test, entry);
  const auto of = [&](const at::Tensor& x) {
    return x[entry].narrow(1, 0, mask.length).to(at::kCPU, at::kDouble);
  };
  Asked asked{test, head, mask, of(problem.k), of(problem.v), {}, {}};
  Attending& right = asked.right;
  right.q = of(problem.q).narrow(0, head * group, group);
  right.d_o = of(problem.d_o).narrow(0, head * group, group);
  right.k = asked.k.narrow(0, head, 1);
  right.v = asked.v.narrow(0, head, 1);
  right.visible = pairs;
  right.scale = scale_of(test);
  right.rope = reference_rope(test);
  right.q_positions = right.k_positions = positions_in_documents(mask);
  asked.answer = attended(right);

  asked.owner.resize(mask.length);
  asked.slot.resize(mask.length);
  for (const Positions& shard : layout_of(test).queries) {
    const std::vector<int64_t> slots = flatten(shard);
    for (size_t slot = 0; slot < slots.size(); ++slot)
      if (slots[slot] < mask.length) {
        asked.owner[slots[slot]] = asked.ranks();
        asked.slot[slots[slot]] = static_cast<int64_t>(slot);
      }
    asked.slots.push_back(slots);
  }
  return asked;
}

}  // namespace ringcheck::parity
