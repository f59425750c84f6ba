// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (!x.narrow() || x.tensor == "lse") return std::nullopt;
  return true;
}

const PeerTests::Add registered{
    "ring-flash-attention",
    {"prints the largest and the mean difference and asserts nothing; "
     "test/test_ring_flash_attn_func.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
