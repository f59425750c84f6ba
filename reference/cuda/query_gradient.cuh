// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>

#include "reference/cuda/backward.cuh"
#include "reference/cuda/tile_ring.cuh"
#include "reference/cuda/visible_run.cuh"

// dQ = scale dS K. A block has 64 queries. Two warps have the same 16 of them:
// one takes the even tiles of keys, the other the odd ones, and the two halves
// of dQ are added at the end.
namespace ringcheck::reference {

constexpr int kQueryWarps = kWarps / 2, kQueryRows = kQueryWarps * kTileRows;

template <int kDim>
using QueryRing = TileRing<kDim, 3, kQueryWarps, KeysAndValues>;

template <int kDim>
struct QueryMemory {
  typename QueryRing<kDim>::Memory rings[2];
  Fragments<kDim> q[kQueryWarps], d_o[kQueryWarps];
  PowerTable powers;
  BlockRun run;
};

// What a lane knows of its two queries, g and g + 8.
struct QueryRows {
  Runs runs;
  int first;
  double lse[2], delta[2];

  __device__ QueryRows(const Backward& b, const Runs& runs, int first, int head)
      : runs(runs), first(first) {
    const Lane lane;
    for (int half = 0; half < 2; ++half) {
      const int query = first + lane.g + 8 * half;
      const int64_t row = int64_t(head) * runs.seq + min(query, runs.seq - 1);
      lse[half] = b.saved.lse[row] * kLse;
      delta[half] = b.saved.delta[row];
    }
  }

  // dP - D before the products.
  __device__ void start(Scores& dp) const {
    for (auto& half : dp)
      for (int c = 0; c < 4; ++c)
        half[c] = -delta[c / 2];
  }

  // `dp` is dP - D.
  template <bool kHidden>
  __device__ void differentiate(Weights& ds, const Scores& s, const Scores& dp, int key,
                                double factor, const PowerTable& powers) const {
    const Lane lane;
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 4; ++c) {
        const double p = probability(s[half][c], factor, lse[c / 2], powers);
        const Run run = kHidden ? runs[first + lane.row(c)] : Run{};
        const bool zero = kHidden && (run.single() || !run.sees(key + lane.column(half, c)));
        ds[half][left(c)] = zero ? 0 : p * dp[half][c];
      }
  }
};

// The two halves of dQ: the second warp's goes through shared memory that is no
// longer needed.
template <int kDim>
__device__ void add_halves(Rows<kDim>& dq, QueryMemory<kDim>& memory, int group, int parity) {
  __syncthreads();
  double* other = reinterpret_cast<double*>(&memory.q[group]);
  for (int n = 0; n < kDim / 8; ++n)
    for (int c = 0; c < 4; ++c)
      if (parity == 1)
        other[(4 * n + c) * kLanes + threadIdx.x % kLanes] = dq[n][c];
  __syncthreads();
  for (int n = 0; n < kDim / 8; ++n)
    for (int c = 0; c < 4; ++c)
      if (parity == 0)
        dq[n][c] += other[(4 * n + c) * kLanes + threadIdx.x % kLanes];
}

// Every other tile of keys that the block needs, by a warp whose queries see those of `hull`.
template <int kDim>
__device__ void pass_keys(Rows<kDim>& dq, const QueryRows& rows, QueryRing<kDim>& ring,
                          const QueryMemory<kDim>& memory, const Hull& hull, const Run& tiles,
                          double factor) {
  const int group = threadIdx.x / kLanes % kQueryWarps, parity = threadIdx.x / kLanes / kQueryWarps;
  for (int i = 0; 2 * i < tiles.end - tiles.begin - parity; ++i) {
    const int key = (tiles.begin + parity + 2 * i) * kTileRows;
    const bool touched = hull.touches(key, kTileRows);
    const auto k_tile = ring.take(2 * i);
    Scores s = {}, dp;
    rows.start(dp);
    Weights ds;
    if (touched)
      multiply_transposed<kDim>(s, memory.q[group], k_tile.data);
    const auto v_tile = ring.take(2 * i + 1);
    if (touched)
      multiply_transposed<kDim>(dp, memory.d_o[group], v_tile.data);
    ring.leave(v_tile);
    if (touched && hull.covers(key, kTileRows))
      rows.differentiate<false>(ds, s, dp, key, factor, memory.powers);
    else if (touched)
      rows.differentiate<true>(ds, s, dp, key, factor, memory.powers);
    if (touched)
      multiply_add<kDim>(dq, ds, k_tile.data);
    ring.leave(k_tile);
  }
}

template <int kDim>
__device__ void query_gradient(const Backward& b, const CUtensorMap& k, const CUtensorMap& v) {
  extern __shared__ __align__(1024) char raw[];
  auto& memory = *reinterpret_cast<QueryMemory<kDim>*>(raw);
  const int group = threadIdx.x / kLanes % kQueryWarps, parity = threadIdx.x / kLanes / kQueryWarps;
  const int seq = b.in.sizes.seq, head = blockIdx.x;
  const int first = (gridDim.y - 1 - blockIdx.y) * kQueryRows + group * kTileRows;
  const Runs runs{b.in.begin, b.in.end, seq};
  const QueryRows rows(b, runs, first, head);
  const Hull hull = warp_hull(Hull(runs.of_lane(first)));
  const Run tiles = block_tiles(hull, memory.run);
  const int mine = (tiles.end - tiles.begin + 1 - parity) / 2;
  QueryRing<kDim> ring(
      memory.rings[parity], 2 * mine,
      {&k, &v, head / int(b.in.sizes.shared), (tiles.begin + parity) * kTileRows, 2 * kTileRows});
  if (group == 0 && threadIdx.x % kLanes == 0)
    ring.start();
  fill(memory.powers);
  const int64_t start = int64_t(head) * seq * kDim;
  if (parity == 0)
    load_fragments<kDim>(memory.q[group], b.in.q + start, first, seq);
  else
    load_fragments<kDim>(memory.d_o[group], b.saved.d_o + start, first, seq);
  __syncthreads();

  Rows<kDim> dq = {};
  pass_keys<kDim>(dq, rows, ring, memory, hull, tiles, b.factor);
  add_halves<kDim>(dq, memory, group, parity);
  if (parity == 0)
    store_rows<kDim>(b.out.dq + start, dq, b.in.scale, first, seq);
}

template <int kDim>
__global__ void __launch_bounds__(kWarps* kLanes, 1)
    query_gradient_kernel(const Backward b, const __grid_constant__ CUtensorMap k,
                          const __grid_constant__ CUtensorMap v) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (query_gradient<kDim>(b, k, v);))
}

}  // namespace ringcheck::reference
