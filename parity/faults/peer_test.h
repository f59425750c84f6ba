// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cp/registry.h"
#include "parity/subject/outcome.h"

// The criteria of other projects' own tests of context-parallel attention, so that one run shows what
// each would have let through. They are shown our inputs, which are harder to pass than theirs.
namespace ringcheck::parity {

// One tensor of a subject, as such a test sees it. All in float64.
struct Exhibit {
  const Case& test;
  std::string tensor;  // o | lse | dq | dk | dv
  at::Tensor actual;   // over the ranks
  at::Tensor alone;    // of the same subject on one rank: "the same kernel without CP"
  at::Tensor exact;    // of the reference
  at::Tensor eager;    // of plain attention with every step in the dtype of the case
  std::vector<at::Tensor> perturbed;  // the same, with inputs a machine epsilon away

  bool narrow() const { return test.dtype == at::kBFloat16 || test.dtype == at::kHalf; }
  bool gradient() const { return tensor[0] == 'd'; }
};

struct PeerTest {
  std::string criterion;  // in a formula, with where it stands
  // Nothing: it does not look at this tensor, or not at this dtype.
  std::function<std::optional<bool>(const Exhibit&)> accepts;
};
using PeerTests = Registry<PeerTest>;

// |x - y| <= atol + rtol |y| everywhere, as torch.testing.assert_close has it. A NaN is not close.
bool all_close(const at::Tensor& x, const at::Tensor& y, double atol, double rtol);
double largest(const at::Tensor& x);  // absolute value; NaN where there is one

// Attention and gradients with every operation rounded to the dtype of the problem.
reference::Tensors eager_attention(const Case& test, const Problem& problem);
// The same of inputs x (1 + epsilon xi), xi uniform in [-1, 1] and drawn anew for each of 3 runs,
// epsilon the distance from 1 to the next number of the dtype.
std::vector<reference::Tensors> perturbed_attention(const Case& test, const Problem& problem);

}  // namespace ringcheck::parity
