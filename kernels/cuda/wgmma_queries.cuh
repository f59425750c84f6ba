// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_tiles.cuh"

// A thread block that computes queries, forward or dQ: which they are, and how their keys come.
namespace ringcheck::wgmma {

// Keys of a tile.
template <int D, int DV>
constexpr int kKeys = D > 128 || DV > 128 ? 64 : 128;

__host__ __device__ inline int query_blocks(const Window& strip) {
  return (strip.last_row - strip.row) / kBlockRows + 1;
}

// 128 rows of one strip, their keys in tiles of so many. The last come first: under a causal mask they see the most keys.
struct QueryWork {
  int row, head, kv_head, batch = blockIdx.y;
  Window seen;
  TileRange tiles;

  __device__ static QueryWork of(const Problem& p, int keys) {
    const Spot spot(p.query_blocks, p.q_heads);
    int block = p.query_blocks - 1 - spot.block, i = 0;
    for (; block >= query_blocks(p.strip[i]); ++i) block -= query_blocks(p.strip[i]);
    return {p.strip[i], p.strip[i].row + block * kBlockRows, spot.head, spot.head / p.group, keys};
  }

 private:
  __device__ QueryWork(const Window& strip, int row, int head, int kv_head, int keys)
      : row(row), head(head), kv_head(kv_head), seen(strip), tiles(strip, row, keys) {}
};

// Tiles of K and V on their way from the warp that copies to those that compute: of so many keys, of
// D channels of K and DV of V.
template <int Keys, int D, int DV, int kStages>
struct KeyTiles {
  using Turns = Turn<kStages>;
  char k[kStages][kTileBytes<Keys, D>];
  char v[kStages][kTileBytes<Keys, DV>];
  Barrier k_there[kStages], v_there[kStages], k_done[kStages], v_done[kStages];

  __device__ void open() {
    for (int i = 0; i < kStages; ++i) {
      init(k_there[i], 1), init(v_there[i], 1);
      init(k_done[i], kArrivals), init(v_done[i], kArrivals);
    }
  }
  __device__ void copy(const CUtensorMap& from_k, const CUtensorMap& from_v,
                       const QueryWork& work, int v_channel = 0) {
    Turns turn;
    for (int tile = work.tiles.end - 1; tile >= work.tiles.begin; --tile, turn.next()) {
      const int i = turn.stage;
      wait(k_done[i], turn.parity ^ 1);
      arrive_expecting(k_there[i], sizeof k[i]);
      copy_tile<Keys, D>(from_k, k[i], k_there[i], tile * Keys, work.kv_head, work.batch);
      wait(v_done[i], turn.parity ^ 1);
      arrive_expecting(v_there[i], sizeof v[i]);
      copy_tile<Keys, DV>(from_v, v[i], v_there[i], tile * Keys, work.kv_head, work.batch, v_channel);
    }
  }
};

}  // namespace ringcheck::wgmma
