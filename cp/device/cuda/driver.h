// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace ringcheck {

// What the CUDA driver alone can do. It is asked for its functions, so that nothing links it.
template <class Function>
Function* driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result) != cudaSuccess ||
      result != cudaDriverEntryPointSuccess)
    throw std::runtime_error(std::string("the CUDA driver has no ") + name + "; install a newer one");
  return reinterpret_cast<Function*>(found);
}

inline void check_driver(CUresult status, const char* what) {
  if (status != CUDA_SUCCESS)
    throw std::runtime_error(std::string("CUDA driver: ") + what + ": error " + std::to_string(status));
}

}  // namespace ringcheck
