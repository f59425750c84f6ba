// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace ringcheck {

// A place in the GPU memory of a process, as another one can find it: CUDA exports whole allocations.
struct MemoryPlace {
  uint64_t allocation = 0;  // never used again by its process; 0: nowhere, for what is empty
  uint64_t offset = 0;
  cudaIpcMemHandle_t handle = {};
};

// The allocations of this process that others were told of: for LibTorch the segments of its caching
// allocator, so a handle is made once for many tensors.
class OwnMemory {
 public:
  // `freed` hears which of them are gone, for others to forget: before a new one is told of, which may
  // lie at the same address, and when it is asked for.
  explicit OwnMemory(std::function<void(uint64_t allocation)> freed) : freed_(std::move(freed)) {}

  // Throws std::runtime_error where the memory is of a kind that CUDA does not export.
  MemoryPlace place_of(const void* data);
  void look_for_freed();

 private:
  struct Allocation {
    const void* base = nullptr;
    cudaIpcMemHandle_t handle = {};
  };
  std::function<void(uint64_t)> freed_;
  std::map<uint64_t, Allocation> told_;
};

// The memory of another process, mapped into this one until it is forgotten.
class ForeignMemory {
 public:
  ForeignMemory() = default;
  ~ForeignMemory();
  ForeignMemory(const ForeignMemory&) = delete;
  ForeignMemory& operator=(const ForeignMemory&) = delete;

  void* at(const MemoryPlace& place);  // as the current GPU sees it
  void forget(uint64_t allocation);

 private:
  std::map<uint64_t, void*> mapped_;
};

}  // namespace ringcheck
