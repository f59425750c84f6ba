// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/gpu_architecture.h"

#include "cp/cuda_library.h"

namespace ringcheck {

std::string gpu_architecture() {
  return why_no_cuda() ? "" : GpuArchitectures::at("gpus").text();
}

}  // namespace ringcheck
