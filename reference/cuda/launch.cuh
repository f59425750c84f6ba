// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "reference/cuda/tile_products.cuh"

namespace ringcheck::reference {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("fused attention: ") + what + ": " +
                             cudaGetErrorString(status));
}

// How tiles of an array [heads, seq, kDim] of doubles are copied: rows beyond
// seq as zeros.
CUtensorMap tile_map(const double* x, int64_t heads, int64_t seq, int64_t dim);

// What a block may have of shared memory.
constexpr int kMostShared = 227 * 1024;

// Asynchronous on the stream, with `memory` bytes of dynamic shared memory a block; nothing for an
// empty grid. Throws std::runtime_error.
template <class Kernel, class... Arguments>
void launch(Kernel kernel, dim3 grid, int threads, int memory, cudaStream_t stream,
            const Arguments&... arguments) {
  if (grid.x == 0 || grid.y == 0)
    return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, memory),
        "shared memory");
  kernel<<<grid, threads, memory, stream>>>(arguments...);
  check(cudaGetLastError(), "launch");
}

}  // namespace ringcheck::reference
