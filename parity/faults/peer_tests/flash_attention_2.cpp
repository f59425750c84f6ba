// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble || x.tensor == "lse") return std::nullopt;
  const double times = x.gradient() ? 3 : 2;
  return largest(x.actual - x.exact) <= times * largest(x.eager - x.exact);
}

const PeerTests::Add registered{
    "flash-attention-2",
    {"max |x - exact| <= m max |eager - exact|, m = 2 for O and 3 for gradients; "
     "tests/test_flash_attn.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
