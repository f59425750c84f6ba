// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "property_tests/kernels/emulated/hopper.h"

// In place of the file of this name that tells a GPU: the same functions on the CPU, and what else of CUDA the kernels
// name.
#define __device__
#define __host__
#define __global__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __CUDA_ARCH_FEAT_SM90_ALL

struct float2 {
  float x, y;
};
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x, unsigned y, unsigned z = 1) : x(x), y(y), z(z) {}
};
using CUtensorMap = ringcheck::emulated::TensorMap;

namespace ringcheck::wgmma {

using std::max, std::min;

using emulated::Barrier;
using Bf16 = c10::BFloat16;
using Half = c10::Half;

// As the kernels name them.
struct ThreadIndex {
  struct X {
    operator unsigned() const { return static_cast<unsigned>(emulated::thread_index()); }
  } x;
};
inline constexpr ThreadIndex threadIdx{};
inline const emulated::Index& blockIdx = emulated::block.index;

inline float __fmul_rn(float a, float b) { return a * b; }
inline float __shfl_xor_sync(unsigned, float value, int mask) { return emulated::shuffled(value, mask); }
inline void __syncwarp() { emulated::block.warps[threadIdx.x / emulated::kWarp].meet(emulated::kWarp); }
inline void __syncthreads() { emulated::block.everybody.meet(3 * emulated::kWarpgroup); }

inline uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(static_cast<const char*>(p) - emulated::shared_memory);
}
inline void init(Barrier& barrier, int arrivals) { barrier = {arrivals, arrivals, 0, 0}; }
inline void fence_barriers() {}
inline void arrive(Barrier& barrier) { barrier.change(1, 0); }
inline void arrive_expecting(Barrier& barrier, int bytes) { barrier.change(1, bytes); }
inline void wait(Barrier& barrier, int parity) {
  emulated::await([&] { return barrier.phase % 2 != parity; });
}
inline void copy_box(const CUtensorMap& from, void* to, Barrier& barrier, int channel, int slot, int head, int batch) {
  emulated::copy_box(from, to, barrier, {channel, slot, head, batch});
}
template <int N>
void give_registers() {}
template <int N>
void take_registers() {}
inline float exp2_fast(float x) { return std::exp2(x); }

inline void fence() {}
inline void commit() { emulated::commit(); }
template <int Pending>
void settle() {
  emulated::settle(Pending);
}
template <class T, int N>
void pin(T (&)[N]) {}

template <class T>
uint32_t pack(float low, float high) {
  return T(low).x | static_cast<uint32_t>(T(high).x) << 16;
}

template <class T, int N>
struct Product {
  static constexpr bool kBf16 = std::is_same_v<T, Bf16>;
  template <int Keep>
  static void of_rows(float (&d)[N / 2], uint64_t a, uint64_t b) {
    emulated::issue({N, kBf16, Keep != 0, false, d, nullptr, a, b});
  }
  static void by_rows(float (&d)[N / 2], const uint32_t* a, uint64_t b) {
    emulated::issue({N, kBf16, true, true, d, a, 0, b});
  }
};

}  // namespace ringcheck::wgmma
