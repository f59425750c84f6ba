// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_tiles.cuh"

// A thread block that computes queries, forward or dQ: which they are, and how their keys come.
namespace ringcheck::wgmma {

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
template <int Keys, int D, int DV, int kStagesOfK, int kStagesOfV>
struct KeyTiles {
  using TurnsOfK = Turn<kStagesOfK>;
  using TurnsOfV = Turn<kStagesOfV>;
  char k[kStagesOfK][kTileBytes<Keys, D>];
  char v[kStagesOfV][kTileBytes<Keys, DV>];
  Barrier k_there[kStagesOfK], k_done[kStagesOfK], v_there[kStagesOfV], v_done[kStagesOfV];

  __device__ void open() {
    for (int i = 0; i < kStagesOfK; ++i) init(k_there[i], 1), init(k_done[i], kArrivals);
    for (int i = 0; i < kStagesOfV; ++i) init(v_there[i], 1), init(v_done[i], kArrivals);
  }
  __device__ void copy(const CUtensorMap& from_k, const CUtensorMap& from_v, const QueryWork& work) {
    TurnsOfK of_k;
    TurnsOfV of_v;
    for (int tile = work.tiles.end - 1; tile >= work.tiles.begin; --tile, of_k.next(), of_v.next()) {
      const int i = of_k.stage, j = of_v.stage;
      wait(k_done[i], of_k.parity ^ 1);
      arrive_expecting(k_there[i], sizeof k[i]);
      copy_tile<Keys, D>(from_k, k[i], k_there[i], tile * Keys, work.kv_head, work.batch);
      wait(v_done[j], of_v.parity ^ 1);
      arrive_expecting(v_there[j], sizeof v[j]);
      copy_tile<Keys, DV>(from_v, v[j], v_there[j], tile * Keys, work.kv_head, work.batch);
    }
  }
};

}  // namespace ringcheck::wgmma
