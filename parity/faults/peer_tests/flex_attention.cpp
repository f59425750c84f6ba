// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble) return std::nullopt;
  const auto seen = [&](const at::Tensor& difference) {  // a row without keys has no finite LSE
    return difference.masked_fill(x.exact.isinf(), 0).abs().mean().item<double>();
  };
  return seen(x.actual - x.exact) <= (x.narrow() ? 1.1 : 10) * seen(x.eager - x.exact);
}

const PeerTests::Add registered{
    "flex-attention",
    {"mean |x - exact| <= f mean |eager - exact|, f = 1.1 in 16 bit and 10 in float32; "
     "test/inductor/test_flex_attention.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
