// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/wgmma_shape.h"

namespace ringcheck::wgmma {

// Write O, LSE and dQ of the rows that are in a part, dK and dV of every key. Throw
// std::runtime_error with what CUDA says.
void forward(const Shape& shape, const ForwardTensors& tensors, cudaStream_t stream);
void backward(const Shape& shape, const BackwardTensors& tensors, cudaStream_t stream);

}  // namespace ringcheck::wgmma
