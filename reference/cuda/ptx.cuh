// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>

// One function an instruction of compute capability 9.0. Names and meaning: PTX
// ISA 8.0.
namespace ringcheck::reference::ptx {

__device__ inline uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// c [16, 8] += a [16, 8] b [8, 8]. Lane 4 g + t holds
//   a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4);   b: (t, g), (t + 4, g);
//   c: (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1).
__device__ inline void mma(double (&c)[4], const double (&a)[4], double b0, double b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b0), "d"(b1));
}

__device__ inline void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// Makes initialised barriers visible to tensor copies.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void mbarrier_arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
__device__ inline void mbarrier_arrive_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
__device__ inline bool mbarrier_try_wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, "
      "[%1], %2; selp.u32 %0, 1, 0, p; "
      "}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done;
}
__device__ inline void mbarrier_wait(uint64_t* barrier, uint32_t parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

// One lane of a warp counts up, 0, 1 ... top, 0, and gets the count before; the others get zero.
// What the warp has read before is read by then.
__device__ inline uint32_t count_up(uint32_t* count, uint32_t top, bool counts) {
  uint32_t before;
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %3, 0; mov.u32 %0, 0;\n"
      "@p atom.acq_rel.cta.shared::cta.inc.u32 %0, [%1], %2; }"
      : "=r"(before)
      : "r"(shared_address(count)), "r"(top), "r"(uint32_t(counts))
      : "memory");
  return before;
}

// The box of `map` at coordinates {0, y, 0, w} to shared memory; its bytes are
// counted on `barrier`.
__device__ inline void tensor_copy(void* to, const CUtensorMap* map, int y, int w,
                                   uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes "
      "[%0], [%1, {%2, %3, %2, %4}], [%5];" ::"r"(shared_address(to)),
      "l"(map), "r"(0), "r"(y), "r"(w), "r"(shared_address(barrier))
      : "memory");
}

}  // namespace ringcheck::reference::ptx
