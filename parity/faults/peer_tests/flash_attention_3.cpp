// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble || x.tensor == "lse") return std::nullopt;
  const at::Tensor rounded = x.exact.to(x.test.dtype);
  const at::Tensor probe = (rounded + 0.3 - 0.3) - rounded;
  return largest(x.actual - x.exact) <=
         2 * largest(x.eager - x.exact) + 2 * largest(probe.to(at::kDouble));
}

const PeerTests::Add registered{
    "flash-attention-3",
    {"max |x - exact| <= 2 max |eager - exact| + 2 max |(exact + 0.3 - 0.3) - exact|, the sum "
     "rounded to the dtype; hopper/test_flash_attn.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
