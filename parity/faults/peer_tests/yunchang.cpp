// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (!x.narrow() || x.tensor == "lse") return std::nullopt;
  return x.gradient() || all_close(x.actual, x.alone, 1e-1, 0);
}

const PeerTests::Add registered{
    "yunchang",
    {"against the kernel without CP, atol = 1e-1 and rtol = 0 on the output, gradients printed; "
     "test/test_hybrid_attn.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
