// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "cp/registry.h"

namespace ringcheck {

// What the GPUs of this machine are, for numbers that were measured on one kind: "sm_90"; several
// kinds as "sm_80+sm_90". Empty where there is no GPU.
std::string gpu_architecture();

// What libringcheck_cuda.so brings.
struct GpuArchitecture {
  std::function<std::string()> text;
};
using GpuArchitectures = Registry<GpuArchitecture>;

}  // namespace ringcheck
