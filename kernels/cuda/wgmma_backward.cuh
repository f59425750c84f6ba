// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_tiles.cuh"

// Backward pass in two kernels without atomics: dQ of 128 queries over their keys, dK and dV of 128
// keys over their queries and the heads that share them. Both recompute P from the final LSE
// (FlashAttention-2, Dao 2023); P and dS never leave the registers: they are left operands.
namespace ringcheck::wgmma {

// LSE in base 2 and D of each row, [batch, q_heads, 2, padded]. A row that is not there, or saw
// nothing, gets an LSE of +inf: its P is 0.
__global__ void prepare_kernel(const float* lse, const float* delta, float* stats, int rows,
                               int lse_rows, int padded) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= padded) return;
  const int64_t head = blockIdx.y + static_cast<int64_t>(gridDim.y) * blockIdx.z;
  const float l = row < rows ? lse[head * lse_rows + row] : -INFINITY;
  float* to = stats + head * 2 * padded + row;
  to[0] = l == -INFINITY ? INFINITY : l * 1.4426950408889634f;
  to[padded] = row < rows ? delta[head * lse_rows + row] : 0;
}

template <int D, int DV>
struct alignas(1024) DqMemory {
  static constexpr int kKeys = 128, kStages = 2;
  char q[kTileBytes<kBlockRows, D>];
  char d_o[kTileBytes<kBlockRows, DV>];
  char k[kStages][kTileBytes<kKeys, D>];
  char v[kStages][kTileBytes<kKeys, DV>];
  Barrier q_there, k_there[kStages], v_there[kStages], k_done[kStages], v_done[kStages];

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
struct DqWork {
  int m = (gridDim.x - 1 - blockIdx.x) * kBlockRows, head = blockIdx.y, batch = blockIdx.z;
  TileRange tiles;
  __device__ DqWork(const Problem& p, int keys)
      : tiles(p.seen, m, min(m + kBlockRows, p.rows) - 1, keys) {}
};

template <int D, int DV>
__device__ void copy_dq(DqMemory<D, DV>& memory, const CUtensorMap& q, const CUtensorMap& k,
                        const CUtensorMap& v, const CUtensorMap& d_o, const DqWork& work,
                        int kv_head) {
  using Memory = DqMemory<D, DV>;
  constexpr int kKeys = Memory::kKeys;
  arrive_expecting(memory.q_there, sizeof memory.q + sizeof memory.d_o);
  copy_tile<kBlockRows, D>(q, memory.q, memory.q_there, work.m, work.head, work.batch);
  copy_tile<kBlockRows, DV>(d_o, memory.d_o, memory.q_there, work.m, work.head, work.batch);
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

template <class T, int D, int DV>
__device__ void compute_dq(DqMemory<D, DV>& memory, const Problem& p, const DqWork& work) {
  using Memory = DqMemory<D, DV>;
  constexpr int kKeys = Memory::kKeys;
  const Place at;
  const int row = work.m + at.row, first_row = work.m + at.group * kGroupRows;
  const char* q = memory.q + at.group * kGroupRows * kRow;
  const char* d_o = memory.d_o + at.group * kGroupRows * kRow;
  const float* stats =
      p.stats + (int64_t(work.batch) * p.q_heads + work.head) * 2 * p.padded + row;
  const float lse[] = {stats[0], stats[8]}, delta[] = {stats[p.padded], stats[p.padded + 8]};
  float dq[D / 2] = {};
  Turn<Memory::kStages> turn;
  if (work.tiles.count() > 0) wait(memory.q_there, 0);
  for (int tile = work.tiles.end - 1; tile >= work.tiles.begin; --tile, turn.next()) {
    const int i = turn.stage;
    float s[kKeys / 2], dp[kKeys / 2];
    uint32_t ds[kKeys / 4];
    wait(memory.k_there[i], turn.parity);
    fence();
    multiply_rows<T, kKeys, D>(s, q, memory.k[i]);
    commit();
    wait(memory.v_there[i], turn.parity);
    fence();
    multiply_rows<T, kKeys, DV>(dp, d_o, memory.v[i]);
    commit();
    settle<1>();
    pin(s);
    if (!p.seen.whole(first_row, tile * kKeys, kKeys))
      hide<kKeys>(s, p.seen, row, tile * kKeys + at.column);
#pragma unroll
    for (int x = 0; x < kKeys / 2; ++x)
      s[x] = exp2_fast(fmaf(s[x], p.scale2, -lse[x / 2 % 2]));
    settle<0>();
    pin(dp);
    hand_back(memory.v_done[i], at.lane);
#pragma unroll
    for (int x = 0; x < kKeys / 2; ++x) s[x] *= dp[x] - delta[x / 2 % 2];
    pack_all<T>(ds, s);
    pin(dq), pin(ds);
    fence();
    multiply_by<T, D, kKeys>(dq, ds, memory.k[i]);
    commit();
    settle<0>();
    pin(dq), pin(ds);
    hand_back(memory.k_done[i], at.lane);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half)
    if (row + 8 * half < p.rows)
      store<D>(p.dq.row(work.batch, work.head, row + 8 * half), dq, half, p.scale, at.column,
               p.dim);
}

template <class T, int D, int DV>
__global__ void __launch_bounds__(kThreads, 1)
    dq_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
              const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap d_o,
              const __grid_constant__ Problem p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) char shared[];
  using Memory = DqMemory<D, DV>;
  auto& memory = *reinterpret_cast<Memory*>(shared);
  if (threadIdx.x == 0) memory.open();
  __syncthreads();
  const DqWork work(p, Memory::kKeys);
  if (threadIdx.x < kWarpgroup) {
    give_registers<kCopierRegisters>();
    if (threadIdx.x == 0 && work.tiles.count() > 0)
      copy_dq(memory, q, k, v, d_o, work, work.head / p.group);
  } else {
    take_registers<kComputerRegisters>();
    compute_dq<T>(memory, p, work);
  }
#endif
}

template <int D, int DV>
struct alignas(1024) DkvMemory {
  static constexpr int kQueries = 64, kStages = 4;
  char k[kTileBytes<kBlockRows, D>];
  char v[kTileBytes<kBlockRows, DV>];
  char q[kStages][kTileBytes<kQueries, D>];
  char d_o[kStages][kTileBytes<kQueries, DV>];
  float lse[kStages][kQueries], delta[kStages][kQueries];
  Barrier kv_there, q_there[kStages], d_o_there[kStages], done[kStages];

  __device__ void open() {
    init(kv_there, 1);
    for (int i = 0; i < kStages; ++i)
      init(q_there[i], 1), init(d_o_there[i], 1), init(done[i], kArrivals);
    fence_barriers();
  }
};

// Which keys against which queries a thread block computes: the longest first, under a causal mask.
struct DkvWork {
  int n = blockIdx.x * kBlockRows, head = blockIdx.y, batch = blockIdx.z;
  Window seen;  // query columns by key rows
  TileRange tiles;
  __device__ DkvWork(const Problem& p, int queries)
      : seen{-p.seen.upper, -p.seen.lower, p.rows - 1},
        tiles(seen, n, min(n + kBlockRows, p.columns) - 1, queries) {}
};

template <int D, int DV>
__device__ void copy_dkv(DkvMemory<D, DV>& memory, const CUtensorMap& q, const CUtensorMap& k,
                         const CUtensorMap& v, const CUtensorMap& d_o, const Problem& p,
                         const DkvWork& work) {
  using Memory = DkvMemory<D, DV>;
  constexpr int kQueries = Memory::kQueries;
  arrive_expecting(memory.kv_there, sizeof memory.k + sizeof memory.v);
  copy_tile<kBlockRows, D>(k, memory.k, memory.kv_there, work.n, work.head, work.batch);
  copy_tile<kBlockRows, DV>(v, memory.v, memory.kv_there, work.n, work.head, work.batch);
  Turn<Memory::kStages> turn;
  for (int head = work.head * p.group; head < (work.head + 1) * p.group; ++head) {
    const float* stats = p.stats + (int64_t(work.batch) * p.q_heads + head) * 2 * p.padded;
    for (int tile = work.tiles.begin; tile < work.tiles.end; ++tile, turn.next()) {
      const int i = turn.stage, m = tile * kQueries;
      wait(memory.done[i], turn.parity ^ 1);
      arrive_expecting(memory.q_there[i], sizeof memory.q[i] + sizeof memory.lse[i]);
      copy_tile<kQueries, D>(q, memory.q[i], memory.q_there[i], m, head, work.batch);
      copy_bytes(stats + m, memory.lse[i], memory.q_there[i], sizeof memory.lse[i]);
      arrive_expecting(memory.d_o_there[i], sizeof memory.d_o[i] + sizeof memory.delta[i]);
      copy_tile<kQueries, DV>(d_o, memory.d_o[i], memory.d_o_there[i], m, head, work.batch);
      copy_bytes(stats + p.padded + m, memory.delta[i], memory.d_o_there[i],
                 sizeof memory.delta[i]);
    }
  }
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
__device__ void compute_dkv(DkvMemory<D, DV>& memory, const Problem& p, const DkvWork& work) {
  using Memory = DkvMemory<D, DV>;
  constexpr int kQueries = Memory::kQueries;
  const Place at;
  const int row = work.n + at.row, first_row = work.n + at.group * kGroupRows;
  const char* k = memory.k + at.group * kGroupRows * kRow;
  const char* v = memory.v + at.group * kGroupRows * kRow;
  float dk[D / 2] = {}, dv[DV / 2] = {};
  Turn<Memory::kStages> turn;
  if (work.tiles.count() > 0) wait(memory.kv_there, 0);
  for (int member = 0; member < p.group; ++member)
    for (int tile = work.tiles.begin; tile < work.tiles.end; ++tile, turn.next()) {
      const int i = turn.stage;
      float s[kQueries / 2], dp[kQueries / 2];
      uint32_t weights[kQueries / 4], ds[kQueries / 4];
      wait(memory.q_there[i], turn.parity);
      fence();
      multiply_rows<T, kQueries, D>(s, k, memory.q[i]);
      commit();
      wait(memory.d_o_there[i], turn.parity);
      fence();
      multiply_rows<T, kQueries, DV>(dp, v, memory.d_o[i]);
      commit();
      settle<1>();
      pin(s);
      if (!work.seen.whole(first_row, tile * kQueries, kQueries))
        hide<kQueries>(s, work.seen, row, tile * kQueries + at.column);
      weigh(s, memory.lse[i], p.scale2, at.column);
      pack_all<T>(weights, s);
      pin(dv), pin(weights);
      fence();
      multiply_by<T, DV, kQueries>(dv, weights, memory.d_o[i]);
      commit();
      settle<1>();
      pin(dp);
      differentiate(dp, s, memory.delta[i], at.column);
      pack_all<T>(ds, dp);
      pin(dk), pin(ds);
      fence();
      multiply_by<T, D, kQueries>(dk, ds, memory.q[i]);
      commit();
      settle<0>();
      pin(dk), pin(dv), pin(ds), pin(weights);
      hand_back(memory.done[i], at.lane);
    }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (row + 8 * half >= p.columns) continue;
    store<D>(p.dk.row(work.batch, work.head, row + 8 * half), dk, half, p.scale, at.column, p.dim,
             p.add);
    store<DV>(p.dv.row(work.batch, work.head, row + 8 * half), dv, half, 1.0f, at.column, p.dim_v,
              p.add);
  }
}

template <class T, int D, int DV>
__global__ void __launch_bounds__(kThreads, 1)
    dkv_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
               const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap d_o,
               const __grid_constant__ Problem p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) char shared[];
  using Memory = DkvMemory<D, DV>;
  auto& memory = *reinterpret_cast<Memory*>(shared);
  if (threadIdx.x == 0) memory.open();
  __syncthreads();
  const DkvWork work(p, Memory::kQueries);
  if (threadIdx.x < kWarpgroup) {
    give_registers<kCopierRegisters>();
    if (threadIdx.x == 0 && work.tiles.count() > 0) copy_dkv(memory, q, k, v, d_o, p, work);
  } else {
    take_registers<kComputerRegisters>();
    compute_dkv<T>(memory, p, work);
  }
#endif
}

}  // namespace ringcheck::wgmma
