// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "cp/attention/context_parallel.h"

namespace ringcheck {

// Context-parallel attention as an operation of a model: returns O of this rank's slots, and
// backward() through it gives the gradients of this rank's q, k and v. All ranks call it, and all
// ranks run backward. Not differentiable twice.
at::Tensor context_parallel_attention(const at::Tensor& q, const at::Tensor& k,
                                      const at::Tensor& v,
                                      const std::shared_ptr<ContextParallel>& attention);

}  // namespace ringcheck
