// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/cuda_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "cp/device/moment.h"

namespace ringcheck {
namespace {

std::optional<std::string> load() {
  // Read by the CUDA libraries when they start: cuBLAS computes the same bits in every run.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  // The driver comes first: its functions are looked up in what is already loaded.
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) == nullptr)
    return "device cuda needs a GPU, and there is no NVIDIA driver (libcuda.so.1); use device cpu";
  if (::dlopen("libringcheck_cuda.so", RTLD_LAZY | RTLD_GLOBAL) == nullptr)
    return std::string("device cuda cannot be used: ") + ::dlerror() +
           "; install libringcheck_cuda.so beside libringcheck.so and put the CUDA libraries of "
           "LibTorch into LD_LIBRARY_PATH, or use device cpu";
  if (device_count(at::kCUDA) == 0)
    return "device cuda needs a GPU, and no usable one was found (ringcheck doctor says more); use "
           "device cpu";
  return std::nullopt;
}

}  // namespace

const std::optional<std::string>& why_no_cuda() {
  static const std::optional<std::string> reason = load();
  return reason;
}

std::string describe_gpus() {
  return why_no_cuda() ? "no GPU" : GpuDescriptions::at("gpus").text();
}

const std::string& gpu_architecture() {
  static const std::string text =
      why_no_cuda() ? "" : GpuDescriptions::at("gpus").architecture();
  return text;
}

}  // namespace ringcheck
