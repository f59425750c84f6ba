// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <array>
#include <memory>
#include <unordered_map>

namespace ringcheck {

// What a buffer is for, so that the bytes held for it can be counted exactly.
enum class MemoryTag { kOther, kKv, kTraveller };
inline constexpr size_t kMemoryTags = 3;

struct TaggedBytes {
  MemoryTag tag = MemoryTag::kOther;
  int64_t bytes = 0;
};

struct Held {
  int64_t now = 0, peak = 0;
  void add(int64_t bytes);
};

// Counts every allocation and free of the thread it is attached to, as the allocator reports
// them; nothing is estimated.
class MemoryMeter final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* pointer, int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override;
  bool memoryProfilingEnabled() const override { return true; }

  const Held& total() const { return total_; }
  // The most held at a time since this was last asked.
  int64_t take_peak();
  const Held& tagged(MemoryTag tag) const { return tags_[static_cast<size_t>(tag)]; }

 private:
  Held total_;
  int64_t recent_peak_ = 0;
  std::array<Held, kMemoryTags> tags_;
  std::unordered_map<void*, TaggedBytes> tagged_;
};

// Attaches a meter to the current thread for as long as it lives.
class Metered {
 public:
  explicit Metered(std::shared_ptr<MemoryMeter> meter)
      : guard_(c10::DebugInfoKind::PROFILER_STATE, std::move(meter)) {}

 private:
  c10::DebugInfoGuard guard_;
};

inline constexpr int64_t kBufferAlignment = 128;

// A flat buffer of `elements`, 128-byte aligned so that every rotation hands out blocks on which a
// kernel computes the same bits, and counted under its tag.
at::Tensor buffer(int64_t elements, at::ScalarType dtype, at::Device device, MemoryTag tag);

}  // namespace ringcheck
