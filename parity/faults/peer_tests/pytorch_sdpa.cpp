// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble || x.tensor == "lse") return std::nullopt;
  const double fudge = x.tensor == "dq" ? 180 : x.tensor == "dk" ? 16 : 4;
  const bool half = x.test.dtype == at::kHalf, bf16 = x.test.dtype == at::kBFloat16;
  const at::Tensor off = (x.eager - x.exact).abs();
  const at::Tensor relative = (off / x.exact.abs()).nan_to_num(0, 0, 0);
  const double atol = std::max(largest(off), 1e-5);
  const double rtol = std::max(largest(relative), bf16 ? 1.6e-2 : half ? 1e-3 : 1.3e-6);
  return all_close(x.actual, x.exact, fudge * atol, fudge * rtol);
}

const PeerTests::Add registered{
    "pytorch-sdpa",
    {"atol = f max(max |eager - exact|, default) and rtol = f max(max |eager - exact| / |exact|, "
     "default), f = 4 for O and dV, 180 for dQ, 16 for dK; test/test_transformers.py",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
