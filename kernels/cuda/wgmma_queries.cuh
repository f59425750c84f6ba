// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_tiles.cuh"

// A thread block that computes queries, forward or dQ: which they are, and how their keys come.
namespace ringcheck::wgmma {

constexpr int kKeys = 128;  // of a tile

// 128 rows of one strip. The last come first: under a causal mask they see the most keys.
struct QueryWork {
  int row, head, kv_head, batch = blockIdx.y;
  Window seen;
  TileRange tiles;

  __device__ static QueryWork of(const Problem& p) {
    const Spot spot(p.query_blocks, p.q_heads);
    int block = p.query_blocks - 1 - spot.block, i = 0;
    for (; block >= count(p.strip[i]); ++i) block -= count(p.strip[i]);
    return {p.strip[i], p.strip[i].row + block * kBlockRows, spot.head, spot.head / p.group};
  }
  __host__ __device__ static int count(const Window& strip) {
    return (strip.last_row - strip.row) / kBlockRows + 1;
  }

 private:
  __device__ QueryWork(const Window& strip, int row, int head, int kv_head)
      : row(row), head(head), kv_head(kv_head), seen(strip), tiles(strip, row, kKeys) {}
};

// Tiles of K and V on their way from the warp that copies to those that compute.
template <int D, int DV>
struct KeyTiles {
  static constexpr int kStages = 2;
  using Turns = Turn<kStages>;
  char k[kStages][kTileBytes<kKeys, D>];
  char v[kStages][kTileBytes<kKeys, DV>];
  Barrier k_there[kStages], v_there[kStages], k_done[kStages], v_done[kStages];

  __device__ void open() {
    for (int i = 0; i < kStages; ++i) {
      init(k_there[i], 1), init(v_there[i], 1);
      init(k_done[i], kArrivals), init(v_done[i], kArrivals);
    }
  }
  __device__ void copy(const CUtensorMap& from_k, const CUtensorMap& from_v,
                       const QueryWork& work) {
    Turns turn;
    for (int tile = work.tiles.end - 1; tile >= work.tiles.begin; --tile, turn.next()) {
      const int i = turn.stage;
      wait(k_done[i], turn.parity ^ 1);
      arrive_expecting(k_there[i], sizeof k[i]);
      copy_tile<kKeys, D>(from_k, k[i], k_there[i], tile * kKeys, work.kv_head, work.batch);
      wait(v_done[i], turn.parity ^ 1);
      arrive_expecting(v_there[i], sizeof v[i]);
      copy_tile<kKeys, DV>(from_v, v[i], v_there[i], tile * kKeys, work.kv_head, work.batch);
    }
  }
};

}  // namespace ringcheck::wgmma
