// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cp/registry.h"

namespace ringcheck {

// Everything that links CUDA is in libringcheck_cuda.so, which is loaded when a case first asks for
// a GPU: a program that runs on the CPU starts without the CUDA libraries, and without a GPU.
//
// Why there is no GPU to use, or nothing. Loads the library at the first call.
const std::optional<std::string>& why_no_cuda();

// "4 x NVIDIA H200, CUDA 13.0, driver for CUDA 13.0, NCCL 2.28.9, cuDNN 91900"; "no GPU" where
// there is none.
std::string describe_gpus();

// What the GPUs of this machine are, for numbers that were measured on one kind: "sm_90"; several
// kinds as "sm_80+sm_90". Empty where there is no GPU.
const std::string& gpu_architecture();

// What the library brings: its description of the GPUs here; kernels (cp/attention), worlds
// (cp/worlds), profilers and delays register where their interfaces are.
struct GpuDescription {
  std::function<std::string()> text, architecture;
};
using GpuDescriptions = Registry<GpuDescription>;

}  // namespace ringcheck
