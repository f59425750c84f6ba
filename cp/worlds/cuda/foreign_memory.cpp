// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/cuda/foreign_memory.h"

#include <optional>
#include <string>

#include "cp/device/cuda/driver.h"

namespace ringcheck {
namespace {

struct Facts {
  uint64_t id = 0;
  void* base = nullptr;
};

// Of the allocation in which an address lies; none where nothing is allocated there.
std::optional<Facts> facts_of(const void* data) {
  static const auto ask =
      driver_function<decltype(cuPointerGetAttributes)>("cuPointerGetAttributes");
  Facts facts;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR};
  void* answers[] = {&facts.id, &facts.base};
  const auto address = reinterpret_cast<CUdeviceptr>(data);
  if (ask(2, wanted, answers, address) != CUDA_SUCCESS || facts.base == nullptr) return std::nullopt;
  return facts;
}

void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // it is told here; nobody else is to find it
  throw std::runtime_error("CUDA IPC: " + what + ": " + cudaGetErrorName(status) + ": " +
                           cudaGetErrorString(status));
}

}  // namespace

MemoryPlace OwnMemory::place_of(const void* data) {
  const auto facts = facts_of(data);
  if (!facts) throw std::runtime_error("CUDA IPC: a buffer lies in no memory of CUDA's");
  const auto* base = static_cast<const char*>(facts->base);
  auto told = told_.find(facts->id);
  if (told == told_.end()) {
    look_for_freed();
    Allocation allocation{base};
    check(cudaIpcGetMemHandle(&allocation.handle, facts->base),
          "exporting memory, which expandable_segments and other allocators than LibTorch's own do "
          "not let it");
    told = told_.emplace(facts->id, allocation).first;
  }
  return {facts->id, static_cast<uint64_t>(static_cast<const char*>(data) - base),
          told->second.handle};
}

void OwnMemory::look_for_freed() {
  std::erase_if(told_, [&](const auto& told) {
    const auto facts = facts_of(told.second.base);
    const bool gone = !facts || facts->id != told.first;
    if (gone) freed_(told.first);
    return gone;
  });
}

ForeignMemory::~ForeignMemory() {
  for (const auto& [allocation, base] : mapped_) cudaIpcCloseMemHandle(base);
}

void* ForeignMemory::at(const MemoryPlace& place) {
  const auto [mapped, first] = mapped_.try_emplace(place.allocation, nullptr);
  if (first) try {
      check(cudaIpcOpenMemHandle(&mapped->second, place.handle, cudaIpcMemLazyEnablePeerAccess),
            "mapping the memory of a peer");
    } catch (...) {
      mapped_.erase(mapped);
      throw;
    }
  return static_cast<char*>(mapped->second) + place.offset;
}

void ForeignMemory::forget(uint64_t allocation) {
  const auto mapped = mapped_.find(allocation);
  if (mapped == mapped_.end()) return;
  check(cudaIpcCloseMemHandle(mapped->second), "unmapping the memory of a peer");
  mapped_.erase(mapped);
}

}  // namespace ringcheck
