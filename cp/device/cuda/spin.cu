// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include "cp/device/delay.h"

namespace ringcheck {
namespace {

__device__ uint64_t nanoseconds() {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void spin_kernel(uint64_t length) {
  const uint64_t begin = nanoseconds();
  while (nanoseconds() - begin < length) __nanosleep(500);
}

void spin(std::chrono::microseconds time) {
  if (time.count() <= 0) return;
  spin_kernel<<<1, 1, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(
      static_cast<uint64_t>(time.count()) * 1000);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

const GpuDelays::Add registered{"spin", {spin}};

}  // namespace
}  // namespace ringcheck
