// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "cp/attention/attention_kernel.h"
#include "cp/layout/strips.h"

namespace ringcheck {

// One call of cuDNN's attention: a strip of a block, [batch, heads, seq, dim] with any strides (a
// batch stride of 0 shares K and V). Graphs are built once for each shape and kept.
struct CudnnCall {
  Strip strip;
  double scale = 1;  // above 0
  at::Tensor q, k, v;
};

// Why cuDNN has no attention of this dtype or these dims, for the kernel of this name, or nothing: bf16 and fp16, multiples
// of 8 up to 256 on Hopper GPUs and up to 128 on others (cuDNN's support matrix).
std::optional<std::string> cudnn_refuses(const std::string& kernel, const BlockShape& shape);

// Writes out, in the dtype of q, and the natural LSE [batch, heads, queries], float32, contiguous.
void cudnn_forward(const CudnnCall& call, const at::Tensor& out, const at::Tensor& lse);

// Writes gradients, in the dtype of q. LSE is contiguous. `repeats`: the same bits each time, for a
// workspace as large as dS.
struct CudnnSaved {
  at::Tensor o, lse, d_o;
};
struct CudnnGradients {
  at::Tensor dq, dk, dv;
};
void cudnn_backward(const CudnnCall& call, const CudnnSaved& saved, const CudnnGradients& result,
                    bool repeats);

}  // namespace ringcheck
