// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// What Hopper's tensor cores, copy engine and barriers are told by, one instruction a function
// (PTX ISA 8, sections 9.7.9, 9.7.13 and 9.7.15).
namespace ringcheck::wgmma {

using Barrier = uint64_t;
using Bf16 = __nv_bfloat16;
using Half = __half;

__device__ inline uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ inline void init(Barrier& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals));
}
// Makes initialised barriers known to the copy engine.
__device__ inline void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive(Barrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}
__device__ inline void arrive_expecting(Barrier& barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(&barrier)),
               "r"(bytes)
               : "memory");
}
// Until the phase of this parity is over; that before the first counts as over.
__device__ inline void wait(Barrier& barrier, int parity) {
  uint32_t over = 0;
  while (!over)
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(over)
        : "r"(shared_address(&barrier)), "r"(parity)
        : "memory");
}

// A box of a [batch, heads, slots, channels] tensor; what lies outside the tensor becomes 0.
__device__ inline void copy_box(const CUtensorMap& from, void* to, Barrier& barrier, int channel,
                                int slot, int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(to)),
      "l"(&from), "r"(shared_address(&barrier)), "r"(channel), "r"(slot), "r"(head), "r"(batch)
      : "memory");
}

template <int N>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

// 2 to the power of x, at most 2 units in the last place off; 0 below the normal numbers.
__device__ inline float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Products are issued between fence() and commit() and go on beside other work; registers that
// they read or write are theirs until settle().
__device__ inline void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ void settle() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
// Keeps the compiler from moving uses of these registers across this point.
template <int N>
__device__ void pin(float (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(x[i])::"memory");
}
template <int N>
__device__ void pin(uint32_t (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(x[i])::"memory");
}

// Two numbers rounded to T, the first in the low half.
template <class T>
__device__ uint32_t pack(float low, float high);
template <>
__device__ inline uint32_t pack<__half>(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return reinterpret_cast<const uint32_t&>(both);
}
template <>
__device__ inline uint32_t pack<__nv_bfloat16>(float low, float high) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const uint32_t&>(both);
}

// d += a b, 64 x N x 16. of_rows: both in shared memory, the product runs over the channels of
// both; d = a b where Keep is 0. by_rows: a in registers, the product runs over the rows of b.
template <class T, int N>
struct Product;

#define RC_LIST8(d, i)                                                                  \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),           \
      "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define RC_LIST32(d, i) \
  RC_LIST8(d, i), RC_LIST8(d, i + 8), RC_LIST8(d, i + 16), RC_LIST8(d, i + 24)
#define RC_LIST64(d, i) RC_LIST32(d, i), RC_LIST32(d, i + 32)
#define RC_LIST96(d, i) RC_LIST64(d, i), RC_LIST32(d, i + 64)
#define RC_LIST128(d, i) RC_LIST64(d, i), RC_LIST64(d, i + 64)
#define RC_NAMES32                                                                         \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23," \
  "%24,%25,%26,%27,%28,%29,%30,%31"
#define RC_NAMES64                                                                             \
  RC_NAMES32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,"   \
             "%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define RC_NAMES96                                                                             \
  RC_NAMES64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81"        \
             ",%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define RC_NAMES128                                                                            \
  RC_NAMES96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110"         \
             ",%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124"          \
             ",%125,%126,%127"
#define RC_PRODUCT(T, TYPE, N, REGISTERS, A0, A1, A2, A3, A4)                                     \
  template <>                                                                                     \
  struct Product<T, N> {                                                                          \
    template <int Keep>                                                                           \
    __device__ static void of_rows(float (&d)[N / 2], uint64_t a, uint64_t b) {                   \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                \
                   " {" RC_NAMES##REGISTERS "}, " A0 ", " A1 ", " A2 ", 1, 1, 0, 0;"              \
                   : RC_LIST##REGISTERS(d, 0)                                                     \
                   : "l"(a), "l"(b), "n"(Keep));                                                  \
    }                                                                                             \
    __device__ static void by_rows(float (&d)[N / 2], const uint32_t* a, uint64_t b) {            \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE                \
                   " {" RC_NAMES##REGISTERS "}, {" A0 "," A1 "," A2 "," A3 "}, " A4               \
                   ", 1, 1, 1, 1;"                                                                \
                   : RC_LIST##REGISTERS(d, 0)                                                     \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                         \
    }                                                                                             \
  }
RC_PRODUCT(__half, "f16", 64, 32, "%32", "%33", "%34", "%35", "%36");
RC_PRODUCT(__half, "f16", 128, 64, "%64", "%65", "%66", "%67", "%68");
RC_PRODUCT(__half, "f16", 192, 96, "%96", "%97", "%98", "%99", "%100");
RC_PRODUCT(__half, "f16", 256, 128, "%128", "%129", "%130", "%131", "%132");
RC_PRODUCT(__nv_bfloat16, "bf16", 64, 32, "%32", "%33", "%34", "%35", "%36");
RC_PRODUCT(__nv_bfloat16, "bf16", 128, 64, "%64", "%65", "%66", "%67", "%68");
RC_PRODUCT(__nv_bfloat16, "bf16", 192, 96, "%96", "%97", "%98", "%99", "%100");
RC_PRODUCT(__nv_bfloat16, "bf16", 256, 128, "%128", "%129", "%130", "%131", "%132");
#undef RC_PRODUCT
#undef RC_NAMES128
#undef RC_NAMES96
#undef RC_NAMES64
#undef RC_NAMES32
#undef RC_LIST128
#undef RC_LIST96
#undef RC_LIST64
#undef RC_LIST32
#undef RC_LIST8

}  // namespace ringcheck::wgmma
