// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_queries.cuh"

// Forward pass after FlashAttention-3 (Shah et al. 2024): 128 queries a thread block, a warp that
// copies and two warpgroups that compute. The scores of a tile are computed beside the product of
// the weights before it with V; while that runs, they become weights.
namespace ringcheck::wgmma {

// Of a tile: what fits into shared memory twice, and their scores beside O into registers.
template <int D, int DV>
constexpr int kForwardKeys = D > 192 || DV > 128 ? 64 : 128;

template <int D, int DV>
struct alignas(1024) ForwardMemory {
  char q[kTileBytes<kBlockRows, D>];
  KeyTiles<kForwardKeys<D, DV>, D, DV, 2, 2> keys;
  Barrier q_there;

  __device__ void open() {
    init(q_there, 1);
    keys.open();
    fence_barriers();
  }
};

// The softmax of two rows, carried along in base 2 (Milakov and Gimelshein 2018).
struct Softmax {
  float top[2] = {-INFINITY, -INFINITY};  // of the scores
  float base[2] = {0, 0};                 // that, scaled: what is subtracted
  float sum[2] = {0, 0};                  // of this thread's columns

  // Turns scores into exponentials. Returns what earlier sums shrink by.
  template <int N>
  __device__ float2 operator()(float (&s)[N], float scale2) {
    float shrink[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float higher = top[half];
#pragma unroll
      for (int i = 2 * half; i < N; i += 4) higher = fmaxf(higher, fmaxf(s[i], s[i + 1]));
      higher = fmaxf(higher, __shfl_xor_sync(~0u, higher, 1));
      higher = fmaxf(higher, __shfl_xor_sync(~0u, higher, 2));
      const float shift = higher == -INFINITY ? 0.0f : __fmul_rn(higher, scale2);
      shrink[half] = top[half] == -INFINITY ? 0.0f : exp2_fast(base[half] - shift);
      top[half] = higher, base[half] = shift;
      float even = 0, odd = 0;
#pragma unroll
      for (int i = 2 * half; i < N; i += 4) {
        even += s[i] = exp2_fast(fmaf(s[i], scale2, -shift));
        odd += s[i + 1] = exp2_fast(fmaf(s[i + 1], scale2, -shift));
      }
      sum[half] = fmaf(sum[half], shrink[half], even + odd);
    }
    return {shrink[0], shrink[1]};
  }
  __device__ float total(int half) const {
    float all = sum[half];
    all += __shfl_xor_sync(~0u, all, 1);
    return all + __shfl_xor_sync(~0u, all, 2);
  }
};

template <int N>
__device__ void shrink_rows(float (&o)[N], float2 by) {
#pragma unroll
  for (int i = 0; i < N; ++i) o[i] *= i % 4 < 2 ? by.x : by.y;
}

template <int DV>
__device__ void store_forward(const Problem& p, const QueryWork& work, const Place& at,
                              const float (&o)[DV / 2], const Softmax& softmax) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = softmax.total(half);
    const int row = work.row + at.row + 8 * half;
    if (!work.seen.has(row)) continue;
    store(p.out.row(work.batch, work.head, row), o, half, sum == 0 ? 0.0f : 1 / sum, at.column, p.dim_v);
    if (at.column == 0)
      p.lse_out[p.at(work.batch, work.head, row)] =
          sum == 0 ? -INFINITY : (softmax.base[half] + log2f(sum)) * kLn2;
  }
}

template <class T, int D, int DV>
__device__ void compute_forward(ForwardMemory<D, DV>& memory, const Problem& p,
                                const QueryWork& work) {
  constexpr int kTile = kForwardKeys<D, DV>;
  auto& keys = memory.keys;
  const Place at;
  typename decltype(memory.keys)::TurnsOfK k;
  typename decltype(memory.keys)::TurnsOfV v;
  Softmax softmax;
  float o[DV / 2] = {};
  uint32_t weights[kTile / 4];
  const auto begin_scores = [&](float (&s)[kTile / 2]) {
    wait(keys.k_there[k.stage], k.parity);
    fence();
    multiply_rows<T, kTile, D>(s, at.own(memory.q), keys.k[k.stage]);
    commit();
  };
  const auto begin_output = [&] {
    wait(keys.v_there[v.stage], v.parity);
    fence();
    multiply_by<T, DV, kTile>(o, weights, keys.v[v.stage]);
    commit();
  };
  const auto end_scores = [&](float (&s)[kTile / 2], int tile) {
    pin(s);
    hand_back(keys.k_done[k.stage]);
    k.next();
    hide<kTile>(s, work.seen, at, work.row, tile * kTile);
    return softmax(s, p.scale2);
  };
  if (int tile = work.tiles.end; work.tiles.count() > 0) {
    wait(memory.q_there, 0);
    float first[kTile / 2];
    begin_scores(first);
    settle<0>();
    end_scores(first, --tile);
    pack_all<T>(weights, first);
    while (--tile >= work.tiles.begin) {
      float s[kTile / 2];
      pin(o), pin(weights);
      begin_scores(s);
      begin_output();
      settle<1>();
      const float2 shrink = end_scores(s, tile);
      settle<0>();
      pin(o), pin(weights);
      hand_back(keys.v_done[v.stage]);
      v.next();
      shrink_rows(o, shrink);
      pack_all<T>(weights, s);
    }
    pin(o), pin(weights);
    begin_output();
    settle<0>();
    pin(o), pin(weights);
  }
  store_forward<DV>(p, work, at, o, softmax);
}

template <class T, int D, int DV>
__global__ void __launch_bounds__(kThreads, 1)
    forward_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                   const __grid_constant__ CUtensorMap v, const __grid_constant__ Problem p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) char shared[];
  auto& memory = *reinterpret_cast<ForwardMemory<D, DV>*>(shared);
  if (threadIdx.x == 0) memory.open();
  __syncthreads();
  const QueryWork work = QueryWork::of(p, kForwardKeys<D, DV>);
  if (threadIdx.x < kWarpgroup) {
    give_registers<kCopierRegisters>();
    if (threadIdx.x > 0 || work.tiles.count() == 0) return;
    arrive_expecting(memory.q_there, sizeof memory.q);
    copy_tile<kBlockRows, D>(q, memory.q, memory.q_there, work.row, work.head, work.batch);
    memory.keys.copy(k, v, work);
  } else {
    take_registers<kComputerRegisters>();
    compute_forward<T>(memory, p, work);
  }
#endif
}

}  // namespace ringcheck::wgmma
