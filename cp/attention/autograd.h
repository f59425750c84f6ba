// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "cp/attention/context_parallel.h"

namespace ringcheck {

// Of this rank's slots: [batch, q_heads, slots, dim_v] in the dtype of q, and [batch, q_heads, slots]
// in accumulation type, which carries no gradient.
struct AttentionOutput {
  at::Tensor o, lse;
};

// Context-parallel attention as an operation of a model: backward() through O gives the gradients of
// this rank's q, k and v. All ranks call it, and all ranks run backward. Not differentiable twice.
AttentionOutput context_parallel_attention(const at::Tensor& q, const at::Tensor& k,
                                           const at::Tensor& v,
                                           const std::shared_ptr<ContextParallel>& attention);

}  // namespace ringcheck
