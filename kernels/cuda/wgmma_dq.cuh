// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_queries.cuh"

// dQ of 128 queries a thread block, over their keys. P is recomputed from the final LSE
// (FlashAttention-2, Dao 2023, section 3.1); dS never leaves the registers: it is the left operand
// of dS K.
namespace ringcheck::wgmma {

// Of a tile: registers hold their scores twice, beside dQ.
template <int D, int DV>
constexpr int kDqKeys = D > 128 || DV > 128 ? 64 : 128;

template <int D, int DV>
struct alignas(1024) DqMemory {
  static constexpr int kTile = kDqKeys<D, DV>;
  // V goes back before K: where two of both do not fit, one of V does.
  static constexpr int kStagesOfV =
      stages(2, kTileBytes<kBlockRows, D + DV> + 2 * kTileBytes<kTile, D>, kTileBytes<kTile, DV>);
  char q[kTileBytes<kBlockRows, D>];
  char d_o[kTileBytes<kBlockRows, DV>];
  KeyTiles<kTile, D, DV, 2, kStagesOfV> keys;
  Barrier q_there;

  __device__ void open() {
    init(q_there, 1);
    keys.open();
    fence_barriers();
  }
};

template <class T, int D, int DV>
__device__ void compute_dq(DqMemory<D, DV>& memory, const Problem& p, const QueryWork& work) {
  constexpr int kTile = kDqKeys<D, DV>;
  auto& keys = memory.keys;
  const Place at;
  const int batch = work.batch, head = work.head, row = work.row + at.row;
  const float lse[] = {p.lse2(batch, head, row), p.lse2(batch, head, row + 8)};
  const float delta[] = {p.delta_of(batch, head, row), p.delta_of(batch, head, row + 8)};
  float dq[D / 2] = {};
  typename decltype(memory.keys)::TurnsOfK k;
  typename decltype(memory.keys)::TurnsOfV v;
  if (work.tiles.count() > 0) wait(memory.q_there, 0);
  for (int tile = work.tiles.end - 1; tile >= work.tiles.begin; --tile, k.next(), v.next()) {
    float s[kTile / 2], dp[kTile / 2];
    uint32_t ds[kTile / 4];
    wait(keys.k_there[k.stage], k.parity);
    fence();
    multiply_rows<T, kTile, D>(s, at.own(memory.q), keys.k[k.stage]);
    commit();
    wait(keys.v_there[v.stage], v.parity);
    fence();
    multiply_rows<T, kTile, DV>(dp, at.own(memory.d_o), keys.v[v.stage]);
    commit();
    settle<1>();
    pin(s);
    hide<kTile>(s, work.seen, at, work.row, tile * kTile);
#pragma unroll
    for (int x = 0; x < kTile / 2; ++x)
      s[x] = exp2_fast(fmaf(s[x], p.scale2, -lse[x / 2 % 2]));
    settle<0>();
    pin(dp);
    hand_back(keys.v_done[v.stage]);
#pragma unroll
    for (int x = 0; x < kTile / 2; ++x) s[x] *= dp[x] - delta[x / 2 % 2];
    pack_all<T>(ds, s);
    pin(dq), pin(ds);
    fence();
    multiply_by<T, D, kTile>(dq, ds, keys.k[k.stage]);
    commit();
    settle<0>();
    pin(dq), pin(ds);
    hand_back(keys.k_done[k.stage]);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half)
    if (work.seen.has(row + 8 * half))
      store(p.dq.row(batch, head, row + 8 * half), dq, half, p.scale, at.column, p.dim);
}

template <class T, int D, int DV>
__global__ void __launch_bounds__(kThreads, 1)
    dq_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
              const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap d_o,
              const __grid_constant__ Problem p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) char shared[];
  auto& memory = *reinterpret_cast<DqMemory<D, DV>*>(shared);
  if (threadIdx.x == 0) memory.open();
  __syncthreads();
  const QueryWork work = QueryWork::of(p, kDqKeys<D, DV>);
  if (threadIdx.x < kWarpgroup) {
    give_registers<kCopierRegisters>();
    if (threadIdx.x > 0 || work.tiles.count() == 0) return;
    arrive_expecting(memory.q_there, sizeof memory.q + sizeof memory.d_o);
    copy_tile<kBlockRows, D>(q, memory.q, memory.q_there, work.row, work.head, work.batch);
    copy_tile<kBlockRows, DV>(d_o, memory.d_o, memory.q_there, work.row, work.head, work.batch);
    memory.keys.copy(k, v, work);
  } else {
    take_registers<kComputerRegisters>();
    compute_dq<T>(memory, p, work);
  }
#endif
}

}  // namespace ringcheck::wgmma
