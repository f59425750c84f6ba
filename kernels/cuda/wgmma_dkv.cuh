// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_tiles.cuh"

// dK and dV of 128 keys a thread block, over the queries that see them and the heads that share
// them, in a fixed order: the outer loop of FlashAttention-2's backward pass (Dao 2023, section
// 3.1), without its atomic sum of dQ, which is a kernel of its own. Scores stand with the keys as
// rows: P and dS never leave the registers, being the left operands of P dO and dS Q.
namespace ringcheck::wgmma {

constexpr int kQueries = 64;  // of a tile

template <int D, int DV>
struct alignas(1024) DkvMemory {
  // Q, with its LSE and delta, is needed until the end of its turn, dO is not: where there is room for one of both,
  // there is for another Q, and dO goes back as soon as it was read.
  static constexpr int kBoth = stages(4, kTileBytes<kBlockRows, D + DV>, kTileBytes<kQueries, D + DV> + 8 * kQueries);
  static constexpr bool kDoGoesFirst = kBoth == 1;
  static constexpr int kStagesOfQ = kDoGoesFirst ? 2 : kBoth, kStagesOfDo = kBoth;
  using TurnsOfQ = Turn<kStagesOfQ>;
  using TurnsOfDo = Turn<kStagesOfDo>;
  char k[kTileBytes<kBlockRows, D>];
  char v[kTileBytes<kBlockRows, DV>];
  char q[kStagesOfQ][kTileBytes<kQueries, D>];
  char d_o[kStagesOfDo][kTileBytes<kQueries, DV>];
  float lse[kStagesOfQ][kQueries], delta[kStagesOfQ][kQueries];
  Barrier kv_there, q_there[kStagesOfQ], q_done[kStagesOfQ], d_o_there[kStagesOfDo], d_o_done[kStagesOfDo];

  __device__ void open() {
    init(kv_there, 1);
    for (int i = 0; i < kStagesOfQ; ++i) init(q_there[i], 1 + kWarp), init(q_done[i], kGroups * kWarpgroup);
    for (int i = 0; i < kStagesOfDo; ++i) init(d_o_there[i], 1), init(d_o_done[i], kArrivals);
    fence_barriers();
  }
};

// The keys of a thread block: 128 of the block. The first come first: under a causal mask the most
// queries see them.
struct KeyWork {
  int row, head, batch = blockIdx.y;
  __device__ explicit KeyWork(const Problem& p) {
    const Spot spot((p.columns + kBlockRows - 1) / kBlockRows, p.q_heads / p.group);
    row = spot.block * kBlockRows, head = spot.head;
  }
  // use(head, strip seen from its keys, tile of queries), in the order of all sums.
  template <class Use>
  __device__ void each(const Problem& p, const Use& use) const {
    for (int h = head * p.group; h < (head + 1) * p.group; ++h)
      for (int i = 0; i < p.strips; ++i) {
        const Window seen = p.strip[i].transposed();
        const TileRange tiles(seen, row, kQueries);
        for (int tile = tiles.begin; tile < tiles.end; ++tile) use(h, seen, tile);
      }
  }
  __device__ bool any(const Problem& p) const {
    for (int i = 0; i < p.strips; ++i)
      if (TileRange(p.strip[i].transposed(), row, kQueries).count() > 0) return true;
    return false;
  }
};

template <int D, int DV>
__device__ void copy_dkv(DkvMemory<D, DV>& memory, const CUtensorMap& q, const CUtensorMap& k,
                         const CUtensorMap& v, const CUtensorMap& d_o, const Problem& p,
                         const KeyWork& work) {
  arrive_expecting(memory.kv_there, sizeof memory.k + sizeof memory.v);
  copy_tile<kBlockRows, D>(k, memory.k, memory.kv_there, work.row, work.head, work.batch);
  copy_tile<kBlockRows, DV>(v, memory.v, memory.kv_there, work.row, work.head, work.batch);
  typename DkvMemory<D, DV>::TurnsOfQ of_q;
  typename DkvMemory<D, DV>::TurnsOfDo of_d_o;
  work.each(p, [&](int head, const Window&, int tile) {
    const int i = of_q.stage, j = of_d_o.stage, m = tile * kQueries;
    wait(memory.q_done[i], of_q.parity ^ 1);
    arrive_expecting(memory.q_there[i], sizeof memory.q[i]);
    copy_tile<kQueries, D>(q, memory.q[i], memory.q_there[i], m, head, work.batch);
    if constexpr (DkvMemory<D, DV>::kDoGoesFirst) wait(memory.d_o_done[j], of_d_o.parity ^ 1);
    arrive_expecting(memory.d_o_there[j], sizeof memory.d_o[j]);
    copy_tile<kQueries, DV>(d_o, memory.d_o[j], memory.d_o_there[j], m, head, work.batch);
    of_q.next(), of_d_o.next();
  });
}

// LSE and D beside them, by a warp of its own. Those who write them and those who read them arrive
// thread by thread, which racecheck can follow.
template <int D, int DV>
__device__ void copy_rows(DkvMemory<D, DV>& memory, const Problem& p, const KeyWork& work) {
  const int lane = threadIdx.x % kWarp;
  typename DkvMemory<D, DV>::TurnsOfQ turn;
  work.each(p, [&](int head, const Window&, int tile) {
    const int i = turn.stage;
    wait(memory.q_done[i], turn.parity ^ 1);
#pragma unroll 1
    for (int row = lane; row < kQueries; row += kWarp) {
      memory.lse[i][row] = p.lse2(work.batch, head, tile * kQueries + row);
      memory.delta[i][row] = p.delta_of(work.batch, head, tile * kQueries + row);
    }
    arrive(memory.q_there[i]);
    turn.next();
  });
}

// s becomes P, then dp becomes dS; the columns of both are queries.
template <int N>
__device__ void weigh(float (&s)[N], const float* lse, float scale2, int column) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const float2 l = *reinterpret_cast<const float2*>(lse + i * 2 + column);
    s[i] = exp2_fast(fmaf(s[i], scale2, -l.x));
    s[i + 1] = exp2_fast(fmaf(s[i + 1], scale2, -l.y));
    s[i + 2] = exp2_fast(fmaf(s[i + 2], scale2, -l.x));
    s[i + 3] = exp2_fast(fmaf(s[i + 3], scale2, -l.y));
  }
}
template <int N>
__device__ void differentiate(float (&dp)[N], const float (&p)[N], const float* delta,
                              int column) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const float2 d = *reinterpret_cast<const float2*>(delta + i * 2 + column);
    dp[i] = p[i] * (dp[i] - d.x);
    dp[i + 1] = p[i + 1] * (dp[i + 1] - d.y);
    dp[i + 2] = p[i + 2] * (dp[i + 2] - d.x);
    dp[i + 3] = p[i + 3] * (dp[i + 3] - d.y);
  }
}

template <class T, int D, int DV>
__device__ void compute_dkv(DkvMemory<D, DV>& memory, const Problem& p, const KeyWork& work,
                            bool any) {
  const Place at;
  using OfK = Slice<D>;
  using OfV = Slice<DV>;
  // Where dK has more slices, the last blocks compute one of dV once more: a branch between products
  // would make them wait for one another.
  static_assert(OfK::kCount >= OfV::kCount);
  float dk[OfK::kChannels / 2] = {}, dv[OfV::kChannels / 2] = {};
  typename DkvMemory<D, DV>::TurnsOfQ of_q;
  typename DkvMemory<D, DV>::TurnsOfDo of_d_o;
  if (any) wait(memory.kv_there, 0);
  work.each(p, [&](int, const Window& seen, int tile) {
    const int i = of_q.stage, j = of_d_o.stage;
    float s[kQueries / 2], dp[kQueries / 2];
    uint32_t weights[kQueries / 4], ds[kQueries / 4];
    wait(memory.q_there[i], of_q.parity);
    fence();
    multiply_rows<T, kQueries, D>(s, at.own(memory.k), memory.q[i]);
    commit();
    wait(memory.d_o_there[j], of_d_o.parity);
    fence();
    multiply_rows<T, kQueries, DV>(dp, at.own(memory.v), memory.d_o[j]);
    commit();
    settle<1>();
    pin(s);
    hide<kQueries>(s, seen, at, work.row, tile * kQueries);
    weigh(s, memory.lse[i], p.scale2, at.column);
    pack_all<T>(weights, s);
    pin(dv), pin(weights);
    fence();
    multiply_by<T, OfV::kChannels, kQueries>(dv, weights, OfV::template of<kQueries>(memory.d_o[j]));
    commit();
    settle<1>();
    pin(dp);
    differentiate(dp, s, memory.delta[i], at.column);
    pack_all<T>(ds, dp);
    pin(dk), pin(ds);
    fence();
    multiply_by<T, OfK::kChannels, kQueries>(dk, ds, OfK::template of<kQueries>(memory.q[i]));
    commit();
    if constexpr (DkvMemory<D, DV>::kDoGoesFirst) {
      settle<1>();
      pin(dv), pin(weights);
      hand_back(memory.d_o_done[j]);
    }
    settle<0>();
    pin(dk), pin(dv), pin(ds), pin(weights);
    arrive(memory.q_done[i]);
    of_q.next(), of_d_o.next();
  });
  if (p.add && !any) return;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = work.row + at.row + 8 * half;
    if (row >= p.columns) continue;
    store(p.dk.row(work.batch, work.head, row), dk, half, p.scale, at.column, p.dim, OfK::channel(), p.add);
    if (OfK::kCount == OfV::kCount || blockIdx.z < OfV::kCount)
      store(p.dv.row(work.batch, work.head, row), dv, half, 1.0f, at.column, p.dim_v, OfV::channel(), p.add);
  }
}

template <class T, int D, int DV>
__global__ void __launch_bounds__(kThreads, 1)
    dkv_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
               const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap d_o,
               const __grid_constant__ Problem p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) char shared[];
  auto& memory = *reinterpret_cast<DkvMemory<D, DV>*>(shared);
  if (threadIdx.x == 0) memory.open();
  __syncthreads();
  const KeyWork work(p);
  const bool any = work.any(p);
  if (threadIdx.x < kWarpgroup) {
    give_registers<kCopierRegisters>();
    if (threadIdx.x == 0 && any) copy_dkv(memory, q, k, v, d_o, p, work);
    if (threadIdx.x / kWarp == 1) copy_rows(memory, p, work);
  } else {
    take_registers<kComputerRegisters>();
    compute_dkv<T>(memory, p, work, any);
  }
#endif
}

}  // namespace ringcheck::wgmma
