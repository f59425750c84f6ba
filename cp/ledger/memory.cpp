// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/memory.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

namespace ringcheck {
namespace {

constexpr size_t kAlignment = kBufferAlignment;

// What the next allocation of this thread is for, and how many bytes were asked for: a caching
// allocator reports its own, rounded ones.
thread_local TaggedBytes current;

struct Tagged {
  Tagged(MemoryTag tag, int64_t bytes) { current = {tag, bytes}; }
  ~Tagged() { current = {}; }
};

// What LibTorch does to memory that it allocates without a value, where it was told to.
at::Tensor filled_if_asked(at::Tensor memory) {
  const at::Context& context = at::globalContext();
  if (context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory())
    memory.fill_(NAN);
  return memory;
}

at::Tensor aligned_host_buffer(int64_t elements, at::ScalarType dtype, int64_t bytes) {
  const size_t reserved =
      std::max(kAlignment, (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment);
  void* memory = std::aligned_alloc(kAlignment, reserved);
  if (memory == nullptr) throw std::bad_alloc();
  c10::reportMemoryUsageToProfiler(memory, bytes, 0, 0, at::kCPU);
  const auto release = [bytes](void* pointer) {
    c10::reportMemoryUsageToProfiler(pointer, -bytes, 0, 0, at::kCPU);
    std::free(pointer);
  };
  return filled_if_asked(
      at::from_blob(memory, {elements}, release, at::TensorOptions(dtype)));
}

}  // namespace

void Held::add(int64_t bytes) {
  now += bytes;
  peak = std::max(peak, now);
}

void MemoryMeter::reportMemoryUsage(void* pointer, int64_t bytes, size_t, size_t, c10::Device) {
  total_.add(bytes);
  recent_peak_ = std::max(recent_peak_, total_.now);
  if (bytes > 0 && current.tag != MemoryTag::kOther) {
    tagged_[pointer] = current;
    tags_[static_cast<size_t>(current.tag)].add(current.bytes);
  } else if (const auto found = tagged_.find(pointer); bytes < 0 && found != tagged_.end()) {
    tags_[static_cast<size_t>(found->second.tag)].add(-found->second.bytes);
    tagged_.erase(found);
  }
}

int64_t MemoryMeter::take_peak() { return std::exchange(recent_peak_, total_.now); }

at::Tensor buffer(int64_t elements, at::ScalarType dtype, at::Device device, MemoryTag tag) {
  const int64_t bytes = elements * static_cast<int64_t>(c10::elementSize(dtype));
  const Tagged scope(tag, bytes);
  if (device.is_cpu()) return aligned_host_buffer(elements, dtype, bytes);
  return at::empty({elements}, at::TensorOptions(dtype).device(device));
}

}  // namespace ringcheck
