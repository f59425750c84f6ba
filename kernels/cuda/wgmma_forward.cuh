// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_tiles.cuh"

// Forward pass after FlashAttention-3 (Shah et al. 2024): 128 queries a thread block, a warpgroup
// that copies and two that compute; a tile's scores are computed beside the product of the weights
// before it with V, and while that runs, their softmax.
namespace ringcheck::wgmma {

template <int D, int DV>
struct alignas(1024) ForwardMemory {
  static constexpr int kKeys = 128, kStages = 2;
  char q[kTileBytes<kBlockRows, D>];
  char k[kStages][kTileBytes<kKeys, D>];
  char v[kStages][kTileBytes<kKeys, DV>];
  Barrier q_there, k_there[kStages], k_done[kStages], v_there[kStages], v_done[kStages];

  __device__ void open() {
    init(q_there, 1);
    for (int i = 0; i < kStages; ++i) {
      init(k_there[i], 1), init(v_there[i], 1);
      init(k_done[i], kArrivals), init(v_done[i], kArrivals);
    }
    fence_barriers();
  }
};

// Which queries against which keys a thread block computes: the longest first.
struct ForwardWork {
  int m = (gridDim.x - 1 - blockIdx.x) * kBlockRows, head = blockIdx.y, batch = blockIdx.z;
  TileRange tiles;
  __device__ ForwardWork(const Problem& p, int keys)
      : tiles(p.seen, m, min(m + kBlockRows, p.rows) - 1, keys) {}
};

template <int D, int DV>
__device__ void copy_forward(ForwardMemory<D, DV>& memory, const CUtensorMap& q,
                             const CUtensorMap& k, const CUtensorMap& v, const ForwardWork& work,
                             int kv_head) {
  using Memory = ForwardMemory<D, DV>;
  constexpr int kKeys = Memory::kKeys;
  arrive_expecting(memory.q_there, sizeof memory.q);
  copy_tile<kBlockRows, D>(q, memory.q, memory.q_there, work.m, work.head, work.batch);
  Turn<Memory::kStages> turn;
  for (int tile = work.tiles.end - 1; tile >= work.tiles.begin; --tile, turn.next()) {
    const int i = turn.stage;
    wait(memory.k_done[i], turn.parity ^ 1);
    arrive_expecting(memory.k_there[i], sizeof memory.k[i]);
    copy_tile<kKeys, D>(k, memory.k[i], memory.k_there[i], tile * kKeys, kv_head, work.batch);
    wait(memory.v_done[i], turn.parity ^ 1);
    arrive_expecting(memory.v_there[i], sizeof memory.v[i]);
    copy_tile<kKeys, DV>(v, memory.v[i], memory.v_there[i], tile * kKeys, kv_head, work.batch);
  }
}

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
__device__ void store_forward(const Problem& p, const ForwardWork& work, const Place& at,
                              const float (&o)[DV / 2], const Softmax& softmax) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = softmax.total(half);
    const int row = work.m + at.row + 8 * half;
    if (row >= p.rows) continue;
    store<DV>(p.out.row(work.batch, work.head, row), o, half, sum == 0 ? 0.0f : 1 / sum, at.column,
              p.dim_v);
    if (at.column == 0)
      p.lse_out[(int64_t(work.batch) * p.q_heads + work.head) * p.lse_rows + row] =
          sum == 0 ? -INFINITY : (softmax.base[half] + log2f(sum)) * 0.6931471805599453f;
  }
}

template <class T, int D, int DV>
__device__ void compute_forward(ForwardMemory<D, DV>& memory, const Problem& p,
                                const ForwardWork& work) {
  using Memory = ForwardMemory<D, DV>;
  constexpr int kKeys = Memory::kKeys;
  const Place at;
  const int row = work.m + at.row, first_row = work.m + at.group * kGroupRows;
  const char* q = memory.q + at.group * kGroupRows * kRow;
  const auto hide_some = [&](float (&s)[kKeys / 2], int tile) {
    if (!p.seen.whole(first_row, tile * kKeys, kKeys))
      hide<kKeys>(s, p.seen, row, tile * kKeys + at.column);
  };
  float o[DV / 2] = {};
  Softmax softmax;
  if (work.tiles.count() > 0) {
    Turn<Memory::kStages> k, v;
    uint32_t weights[kKeys / 4];
    int tile = work.tiles.end - 1;
    {
      float s[kKeys / 2];
      wait(memory.q_there, 0);
      wait(memory.k_there[k.stage], k.parity);
      fence();
      multiply_rows<T, kKeys, D>(s, q, memory.k[k.stage]);
      commit();
      settle<0>();
      pin(s);
      hand_back(memory.k_done[k.stage], at.lane);
      hide_some(s, tile);
      softmax(s, p.scale2);
      pack_all<T>(weights, s);
    }
    for (--tile; tile >= work.tiles.begin; --tile) {
      k.next();
      float s[kKeys / 2];
      wait(memory.k_there[k.stage], k.parity);
      pin(o), pin(weights);
      fence();
      multiply_rows<T, kKeys, D>(s, q, memory.k[k.stage]);
      commit();
      wait(memory.v_there[v.stage], v.parity);
      fence();
      multiply_by<T, DV, kKeys>(o, weights, memory.v[v.stage]);
      commit();
      settle<1>();
      pin(s);
      hand_back(memory.k_done[k.stage], at.lane);
      hide_some(s, tile);
      const float2 shrink = softmax(s, p.scale2);
      settle<0>();
      pin(o), pin(weights);
      hand_back(memory.v_done[v.stage], at.lane);
      v.next();
      shrink_rows(o, shrink);
      pack_all<T>(weights, s);
    }
    wait(memory.v_there[v.stage], v.parity);
    pin(o), pin(weights);
    fence();
    multiply_by<T, DV, kKeys>(o, weights, memory.v[v.stage]);
    commit();
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
  using Memory = ForwardMemory<D, DV>;
  auto& memory = *reinterpret_cast<Memory*>(shared);
  if (threadIdx.x == 0) memory.open();
  __syncthreads();
  const ForwardWork work(p, Memory::kKeys);
  if (threadIdx.x < kWarpgroup) {
    give_registers<kCopierRegisters>();
    if (threadIdx.x == 0 && work.tiles.count() > 0)
      copy_forward(memory, q, k, v, work, work.head / p.group);
  } else {
    take_registers<kComputerRegisters>();
    compute_forward<T>(memory, p, work);
  }
#endif
}

}  // namespace ringcheck::wgmma
