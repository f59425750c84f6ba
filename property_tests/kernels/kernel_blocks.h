// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "cp/attention/attention_kernel.h"
#include "parity/case/problem.h"
#include "reference/errors/bounds.h"

namespace ringcheck {

// A problem for one kernel: a short sequence, some pad slots behind it, and an order in which the
// kernel gets the slots, so that its positions are scattered.
struct KernelCase {
  std::string kernel;
  at::ScalarType dtype = at::kFloat;
  Mask mask;
  int64_t batch = 1, kv_heads = 1, group = 1, dim = 1, dim_v = 1;
  double scale = 1;
  std::vector<int64_t> order;  // of the slots 0 ... length + pads - 1
  uint64_t seed = 1;

  const AttentionKernel& entry() const { return *AttentionKernels::at(kernel); }
  int64_t q_heads() const { return kv_heads * group; }
  int64_t slots() const { return static_cast<int64_t>(order.size()); }
  BlockShape shape() const;
  Scores scores() const { return {mask, scale}; }
  Partial forward(const QBlock& q, const KvBlock& kv) const;
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved) const;
  // Normal, logits of standard deviation 3; slot i of each tensor is position i.
  parity::Problem problem() const;
};
void showValue(const KernelCase& test, std::ostream& out);

namespace gen {
rc::Gen<KernelCase> kernel_case();  // any kernel and dtype; what it refuses is not drawn
}

// Every slot a run of its own.
Positions scattered(const std::vector<int64_t>& slots);

QBlock query_block(const at::Tensor& q, const std::vector<int64_t>& slots);
KvBlock key_block(const at::Tensor& k, const at::Tensor& v, const std::vector<int64_t>& slots);
at::Tensor picked(const at::Tensor& x, const std::vector<int64_t>& slots);
// Rows back in sequence order: the inverse of picked, first `length` slots.
at::Tensor unpicked(const at::Tensor& x, const std::vector<int64_t>& slots, int64_t length);

Saved saved_of(const Partial& whole, const at::Tensor& d_o);

// Forward and backward of all slots as one block, back in sequence order, pads dropped.
reference::Tensors as_one_block(const KernelCase& test, const parity::Problem& p);

// The reference for the tokens of the sequence, and its bounds for `merged` partial results.
reference::Judgement kernel_judgement(const KernelCase& test, const parity::Problem& p, int merged);

}  // namespace ringcheck
