// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble || x.tensor == "lse") return std::nullopt;
  const double world = x.test.world;
  if (!x.narrow()) return all_close(x.actual, x.alone, x.gradient() ? 2e-6 : 1e-8, 1e-5);
  return all_close(x.actual, x.alone, (x.gradient() ? 8e-3 : 1e-3) * world, 1e-5);
}

const PeerTests::Add registered{
    "pytorch-cp-2024",
    {"the same of an older version: atol = 1e-3 P for O and 8e-3 P for gradients with rtol = 1e-5 "
     "in 16 bit, 1e-8 and 2e-6 in float32",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
