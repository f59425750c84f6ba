// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "cp/attention/attention_kernel.h"

namespace ringcheck::parity {

// What a kernel is asked to compute; a decorator may change it before the kernel sees it.
struct KernelCall {
  QBlock q;
  KvBlock kv;
  Scores scores;
  std::optional<Saved> saved;  // in the backward pass
  int step = 0;                // how many blocks the kernel computed before in this pass
};

// What is done around the calls of a kernel, on one rank.
struct AroundKernel {
  std::function<void(KernelCall&)> before = {};
  std::function<void(const KernelCall&, Partial&)> after_forward = {};
  std::function<void(const KernelCall&, Gradients&)> after_backward = {};
};

// The kernel with something done around its calls: for one rank, as it counts steps.
std::shared_ptr<const AttentionKernel> with_around(std::shared_ptr<const AttentionKernel> kernel,
                                                   AroundKernel around);

// A copy of the block whose K and V may be written.
KvBlock own_copy(const KvBlock& block);

}  // namespace ringcheck::parity
