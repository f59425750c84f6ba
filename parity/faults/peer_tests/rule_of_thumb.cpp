// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble || x.tensor == "lse") return std::nullopt;
  const double tolerance = x.narrow() ? 1e-3 * x.test.world : 1e-8;
  return all_close(x.actual, x.alone, tolerance, 1e-5);
}

const PeerTests::Add registered{
    "rule-of-thumb",
    {"against one device, 1e-3 times the number of ranks in 16 bit, 1e-8 in float32: what guides to "
     "context parallelism recommend",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
