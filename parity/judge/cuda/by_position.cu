// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/elements/by_position.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace ringcheck::parity {
namespace {

constexpr int kThreads = 256;

// A block a slot: its threads take elements in turn, and their sums meet pairwise.
__global__ void __launch_bounds__(kThreads) tally_slots(Elements elements, PositionTally* slots) {
  __shared__ alignas(PositionTally) unsigned char memory[kThreads * sizeof(PositionTally)];
  auto* sums = reinterpret_cast<PositionTally*>(memory);
  const int64_t slot = blockIdx.x, count = elements.rows * elements.channels;
  PositionTally own;
  for (int64_t i = threadIdx.x; i < count; i += kThreads)
    own.add(elements, elements.flat(i / elements.channels, slot, i % elements.channels));
  sums[threadIdx.x] = own;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x].add(sums[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) slots[slot] = sums[0];
}

std::vector<PositionTally> on_gpu(const Elements& elements, at::Device device) {
  std::vector<PositionTally> slots(elements.slots);
  if (slots.empty()) return slots;
  const c10::cuda::CUDAGuard current(device);
  const auto bytes = static_cast<int64_t>(slots.size() * sizeof(PositionTally));
  const at::Tensor there = at::empty({bytes}, at::TensorOptions(at::kByte).device(device));
  tally_slots<<<static_cast<unsigned>(elements.slots), kThreads, 0,
                c10::cuda::getCurrentCUDAStream().stream()>>>(
      elements, static_cast<PositionTally*>(there.mutable_data_ptr()));
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw std::runtime_error(std::string("comparison: ") + cudaGetErrorString(status));
  std::memcpy(slots.data(), there.cpu().const_data_ptr(), static_cast<size_t>(bytes));
  return slots;
}

const RegisteredByPosition registered(on_gpu);

}  // namespace
}  // namespace ringcheck::parity
