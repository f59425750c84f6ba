// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble || x.tensor == "lse") return std::nullopt;
  return all_close(x.actual, x.alone, 1e-2, 1e-2);
}

const PeerTests::Add registered{
    "megatron",
    {"against the same module without CP, atol = rtol = 1e-2 on the output and on the gradient of "
     "the input; tests/unit_tests/transformer/test_attention.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
