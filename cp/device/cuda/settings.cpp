// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/Context.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <map>
#include <set>

#include "cp/device/await.h"
#include "cp/device/cuda/driver.h"
#include "cp/device/cuda_library.h"

namespace ringcheck {
namespace {

// Before a GPU is used: who waits for one sleeps. Where the driver cannot do that it stays awake.
void sleep_while_waiting_for_gpus() try {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return;
  const auto get = driver_function<decltype(cuDeviceGet)>("cuDeviceGet");
  const auto set = driver_function<decltype(cuDevicePrimaryCtxSetFlags)>("cuDevicePrimaryCtxSetFlags");
  for (int gpu = 0; gpu < count; ++gpu) {
    CUdevice device = 0;
    check_driver(get(&device, gpu), "which GPU it is");
    check_driver(set(device, CU_CTX_SCHED_BLOCKING_SYNC), "how to wait for it");
  }
} catch (const std::runtime_error&) {
}

// What a verification needs of LibTorch on GPUs: the same bits in every run, and float32 products
// in float32.
struct Settings {
  Settings() {
    if (awake() == std::chrono::milliseconds::zero()) sleep_while_waiting_for_gpus();
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(true, false);
    context.setDeterministicFillUninitializedMemory(false);
    context.setAllowTF32CuBLAS(false);
  }
} const settings;

std::string version_text(int version, int major, int minor) {
  return std::to_string(version / major) + "." + std::to_string(version % major / minor);
}

std::string describe() {
  std::map<std::string, int> names;
  int count = 0, runtime = 0, driver = 0, nccl = 0;
  cudaGetDeviceCount(&count);
  for (int gpu = 0; gpu < count; ++gpu) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, gpu) == cudaSuccess) ++names[properties.name];
  }
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  ncclGetVersion(&nccl);
  std::string text;
  for (const auto& [name, times] : names) text += std::to_string(times) + " x " + name + ", ";
  return text + "CUDA " + version_text(runtime, 1000, 10) + ", driver for CUDA " +
         version_text(driver, 1000, 10) + ", NCCL " + version_text(nccl, 10000, 100) + "." +
         std::to_string(nccl % 100) + ", cuDNN " +
         std::to_string(at::detail::getCUDAHooks().versionCuDNN());
}

std::string architecture() {
  std::set<std::string> kinds;
  int count = 0;
  cudaGetDeviceCount(&count);
  for (int gpu = 0; gpu < count; ++gpu) {
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu);
    kinds.insert("sm_" + std::to_string(major) + std::to_string(minor));
  }
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : "+") + kind;
  return text;
}

const GpuDescriptions::Add registered{"gpus", {describe, architecture}};

}  // namespace
}  // namespace ringcheck
