// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/DeviceType.h>

#include <cstdint>

namespace ringcheck {

// The most bytes that a block of memory has more than was asked for. On a CPU none; on a GPU
// LibTorch's caching allocator rounds up to 512 bytes, and where more than 1 MiB is asked for leaves
// a rest of up to 1 MiB in the block (c10/cuda/CUDACachingAllocator.cpp: kMinBlockSize, kSmallSize).
inline int64_t rounding(c10::DeviceType device, int64_t bytes) {
  constexpr int64_t kLeast = 512, kSmall = 1 << 20;
  if (device == c10::DeviceType::CPU) return 0;
  return bytes <= kSmall - kLeast ? kLeast : kSmall;
}

}  // namespace ringcheck
