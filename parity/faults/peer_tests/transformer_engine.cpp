// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (!x.narrow() || x.tensor == "lse") return std::nullopt;
  const bool grouped = x.test.q_heads != x.test.kv_heads;
  const double tolerance = x.test.dtype == at::kHalf ? 5e-3 : grouped ? 3.5e-2 : 2.5e-2;
  return all_close(x.actual, x.alone, tolerance, tolerance);
}

const PeerTests::Add registered{
    "transformer-engine",
    {"against the same kernel without CP, assert_close with atol = rtol = 2.5e-2 in bf16 (3.5e-2 "
     "with grouped queries), 5e-3 in fp16; tests/pytorch/attention/run_attention_with_cp.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
