// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble || x.tensor == "lse") return std::nullopt;
  const double world = x.test.world;
  return x.narrow() ? all_close(x.actual, x.alone, 8e-3 * world, 1e-3 * world)
                    : all_close(x.actual, x.alone, 2e-6, 1e-5);
}

const PeerTests::Add registered{
    "pytorch-cp",
    {"against the same kernel without CP, atol = 8e-3 P and rtol = 1e-3 P in 16 bit, 2e-6 and "
     "1e-5 in float32; test/distributed/tensor/test_attention.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
