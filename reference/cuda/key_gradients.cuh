// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nv/target>

#include "reference/cuda/backward.cuh"
#include "reference/cuda/tile_ring.cuh"
#include "reference/cuda/visible_run.cuh"

// dV = P^T dO and dK = scale dS^T Q. A block has 64 keys. Two warps have the
// same 16 of them: one computes P^T and dV, the other dS^T and dK, for which it
// gets P^T from the first.
namespace ringcheck::reference {

constexpr int kKeyWarps = kWarps / 2, kKeyRows = kKeyWarps * kTileRows;

// Tiles of Q or dO, head after head of those that share the keys.
struct Queries {
  const CUtensorMap* map;
  int head, first, count;  // the first head, the first tile, tiles a head
  __device__ TileSource operator()(int i) const {
    return {map, head + i / count, (first + i % count) * kTileRows};
  }
};

// A tile of Q is read first for P^T and last for dK, one of dO for dP^T and dV
// in between.
template <int kDim>
using QueryTiles = TileRing<kDim, 3, kWarps, Queries>;
template <int kDim>
using GradientTiles = TileRing<kDim, 2, kWarps, Queries>;

// P^T on its way from one warp to the other. Two of them take turns.
//
// The second warp starts a tile when the first has the scores of the next one,
// or nothing to do with it: so one of them multiplies while the other computes
// powers. Every lane arrives for what it wrote or read itself.
struct Handover {
  double2 p[2][4][kLanes];
  uint64_t full[2], empty[2], scored[2];

  __device__ void start() {
    for (int i = 0; i < 2; ++i) {
      ptx::mbarrier_init(&full[i], kLanes);
      ptx::mbarrier_init(&empty[i], kLanes);
      ptx::mbarrier_init(&scored[i], kLanes);
    }
  }
  __device__ void announce(int i) { ptx::mbarrier_arrive(&scored[i % 2]); }
  __device__ void await(int i) { ptx::mbarrier_wait(&scored[i % 2], i / 2 % 2); }

  __device__ void send(const Weights& s, int i) {
    ptx::mbarrier_wait(&empty[i % 2], (i / 2 + 1) % 2);
    for (int n = 0; n < 4; ++n)
      p[i % 2][n][threadIdx.x % kLanes] = {s[n / 2][n % 2 * 2], s[n / 2][n % 2 * 2 + 1]};
    ptx::mbarrier_arrive(&full[i % 2]);
  }
  __device__ void receive(Weights& s, int i) {
    ptx::mbarrier_wait(&full[i % 2], i / 2 % 2);
    for (int n = 0; n < 4; ++n) {
      const double2 pair = p[i % 2][n][threadIdx.x % kLanes];
      s[n / 2][n % 2 * 2] = pair.x;
      s[n / 2][n % 2 * 2 + 1] = pair.y;
    }
    ptx::mbarrier_arrive(&empty[i % 2]);
  }
};

template <int kDim>
struct KeyMemory {
  typename QueryTiles<kDim>::Memory q;
  typename GradientTiles<kDim>::Memory d_o;
  Fragments<kDim> k[kKeyWarps], v[kKeyWarps];
  Handover handover[kKeyWarps];
  PowerTable powers;
  BlockRun run;
};

// The tiles of queries that see one of the keys first ... first + kKeyRows - 1.
template <int kDim>
__device__ Run tiles_that_see(const Runs& runs, int first, KeyMemory<kDim>& memory) {
  Hull mine;
  for (int query = threadIdx.x; query < runs.seq; query += blockDim.x)
    if (Hull(runs[query]).touches(first, kKeyRows))
      mine.some = {min(mine.some.begin, query), query + 1};
  return block_tiles(warp_hull(mine), memory.run);
}

// One warp of a block: its 16 keys against one tile of 16 queries after the
// other.
template <int kDim>
struct KeyWarp {
  const Backward& b;
  KeyMemory<kDim>& memory;
  QueryTiles<kDim>& q;
  GradientTiles<kDim>& d_o;
  Runs runs;
  Handover& handover;
  int group, key;  // key: the first one

  // A value of each of the lane's columns, [half][c % 2].
  using Columns = double[2][2];

  // Of a row [seq]; the last value for columns behind it.
  __device__ void load(Columns& to, const double* row, int first) const {
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 2; ++c)
        to[half][c] = row[min(first + Lane().column(half, c), runs.seq - 1)];
  }
  // Zeros for the pairs that `zero(run, key)` says.
  template <class Zero>
  __device__ void clear(Weights& s, int first, const Zero& zero) const {
    const Lane lane;
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 4; ++c)
        if (zero(runs[first + lane.column(half, c)], key + lane.row(c)))
          s[half][left(c)] = 0;
  }

  // dV, and P^T for the other warp. `i` counts the tiles, `n` those that see
  // one of the keys.
  __device__ void values(Rows<kDim>& dv, int i, int n, int64_t row, int first, bool hidden) {
    Columns lse;
    load(lse, b.saved.lse + row, first);
    Scores s = {};
    Weights p;
    const auto q_tile = q.take(i);
    multiply_transposed<kDim>(s, memory.k[group], q_tile.data);
    q.leave(q_tile);
    handover.announce(i);
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 4; ++c)
        p[half][left(c)] =
            probability(s[half][c], b.factor, lse[half][c % 2] * kLse, memory.powers);
    if (hidden)
      clear(p, first, [](const Run& run, int key) { return !run.sees(key); });
    const auto d_o_tile = d_o.take(i);
    handover.send(p, n);
    multiply_add<kDim>(dv, p, d_o_tile.data);
    d_o.leave(d_o_tile);
  }

  // dK, with P^T from the other warp.
  __device__ void keys(Rows<kDim>& dk, int i, int n, int64_t row, int first, bool hidden) {
    Columns delta;
    load(delta, b.saved.delta + row, first);
    Scores dp;  // dP^T - D
    Weights p, ds;
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 4; ++c)
        dp[half][c] = -delta[half][c % 2];
    handover.await(i + 1);
    const auto d_o_tile = d_o.take(i);
    multiply_transposed<kDim>(dp, memory.v[group], d_o_tile.data);
    d_o.leave(d_o_tile);
    handover.receive(p, n);
    const auto q_tile = q.take(i);
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 4; ++c)
        ds[half][left(c)] = p[half][left(c)] * dp[half][c];
    if (hidden)
      clear(ds, first, [](const Run& run, int key) { return !run.sees(key) || run.single(); });
    multiply_add<kDim>(dk, ds, q_tile.data);
    q.leave(q_tile);
  }

  __device__ void pass(int i, bool gives) {
    q.leave(q.take(i));
    if (gives)
      handover.announce(i);
    d_o.leave(d_o.take(i));
  }

  // All tiles of queries that the block needs, of one head after the other.
  __device__ void pass_queries(Rows<kDim>& sum, int first_head, int heads, const Run& tiles,
                               bool gives) {
    Sight sight;
    int i = 0, n = 0;
    for (int head = first_head; head < first_head + heads; ++head)
      for (int tile = 0; tile < tiles.end - tiles.begin; ++tile, ++i) {
        const int first = (tiles.begin + tile) * kTileRows;
        const int64_t row = int64_t(head) * runs.seq;
        if (tile % kLanes == 0)
          sight = Sight(runs, first, key);
        const bool hidden = (sight.covered >> tile % kLanes) % 2 == 0;
        if ((sight.touched >> tile % kLanes) % 2 == 0)
          pass(i, gives);
        else if (gives)
          values(sum, i, n++, row, first, hidden);
        else
          keys(sum, i, n++, row, first, hidden);
      }
  }
};

template <int kDim>
__device__ void key_gradients(const Backward& b, const CUtensorMap& q, const CUtensorMap& d_o) {
  extern __shared__ __align__(1024) char raw[];
  auto& memory = *reinterpret_cast<KeyMemory<kDim>*>(raw);
  const int group = threadIdx.x / kLanes % kKeyWarps, seq = b.in.sizes.seq;
  const int shared = b.in.sizes.shared, pair = blockIdx.x, block = blockIdx.y * kKeyRows;
  const bool values = threadIdx.x / kLanes < kKeyWarps;
  const Runs runs{b.in.begin, b.in.end, seq};
  const Run tiles = tiles_that_see(runs, block, memory);
  const int count = tiles.end - tiles.begin, key = block + group * kTileRows;
  const Queries queries{&q, pair * shared, tiles.begin, count};
  const Queries gradients{&d_o, pair * shared, tiles.begin, count};
  QueryTiles<kDim> q_tiles(memory.q, count * shared, queries);
  GradientTiles<kDim> d_o_tiles(memory.d_o, count * shared, gradients);
  if (threadIdx.x == 0) {
    for (Handover& h : memory.handover)
      h.start();
    q_tiles.start();
    d_o_tiles.start();
  }
  fill(memory.powers);
  const int64_t start = int64_t(pair) * seq * kDim;
  if (values)
    load_fragments<kDim>(memory.k[group], b.in.k + start, key, seq);
  else
    load_fragments<kDim>(memory.v[group], b.in.v + start, key, seq);
  __syncthreads();

  KeyWarp<kDim> warp{b, memory, q_tiles, d_o_tiles, runs, memory.handover[group], group, key};
  Rows<kDim> sum = {};  // dV or dK
  warp.pass_queries(sum, pair * shared, shared, tiles, values);
  if (values) {
    warp.handover.announce(count * shared);
    store_rows<kDim>(b.out.dv + start, sum, 1, key, seq);
  } else {
    store_rows<kDim>(b.out.dk + start, sum, b.in.scale, key, seq);
  }
}

template <int kDim>
__global__ void __launch_bounds__(kWarps* kLanes, 1)
    key_gradients_kernel(const Backward b, const __grid_constant__ CUtensorMap q,
                         const __grid_constant__ CUtensorMap d_o) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (key_gradients<kDim>(b, q, d_o);))
}

}  // namespace ringcheck::reference
