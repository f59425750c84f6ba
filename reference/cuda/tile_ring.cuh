// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include "reference/cuda/ptx.cuh"
#include "reference/cuda/tile_products.cuh"

namespace ringcheck::reference {

// Where a tile comes from: 16 rows of one head of an array [heads, seq, kDim].
struct TileSource {
  const CUtensorMap* map;
  int head, row;
};

// Tiles of K and V in turn.
struct KeysAndValues {
  const CUtensorMap *k, *v;
  int head;
  int first, step;  // the first key, and keys from one tile of K to the next
  __device__ TileSource operator()(int i) const {
    return {i % 2 == 0 ? k : v, head, first + i / 2 * step};
  }
};

// A sequence of tiles that passes through a few buffers in shared memory. Each
// tile is read by kReaders warps; the last one that leaves it starts the copy
// of the tile that comes next into its buffer. `source(i)` says where tile i
// comes from.
template <int kDim, int kBuffers, int kReaders, class Source>
class TileRing {
 public:
  struct Memory {
    alignas(1024) char tiles[kBuffers][kTileBytes<kDim>];
    uint64_t full[kBuffers];
    uint32_t left[kBuffers];
  };

  __device__ TileRing(Memory& memory, int tiles, Source source)
      : memory_(memory), tiles_(tiles), source_(source) {}

  // By one thread, before any other uses the ring.
  __device__ void start() {
    for (int i = 0; i < kBuffers; ++i) {
      ptx::mbarrier_init(&memory_.full[i], 1);
      memory_.left[i] = 0;
    }
    ptx::fence_mbarrier_init();
    for (int i = 0; i < kBuffers; ++i)
      fetch(i);
  }
  // Tile i, once it is there. A warp takes all of them, in order.
  struct Tile {
    const char* data;
    int number;
  };
  __device__ Tile take(int i) {
    ptx::mbarrier_wait(&memory_.full[i % kBuffers], i / kBuffers % 2);
    return {memory_.tiles[i % kBuffers], i};
  }
  // By a whole warp, which has read it.
  __device__ void leave(const Tile& tile) {
    __syncwarp();
    const int buffer = tile.number % kBuffers;
    if (ptx::count_up(&memory_.left[buffer], kReaders - 1, threadIdx.x % kLanes == 0) ==
        kReaders - 1)
      fetch(tile.number + kBuffers);
  }

 private:
  __device__ void fetch(int i) {
    if (i >= tiles_)
      return;
    const int buffer = i % kBuffers;
    const TileSource from = source_(i);
    ptx::mbarrier_arrive_expect(&memory_.full[buffer], kTileBytes<kDim>);
    ptx::tensor_copy(memory_.tiles[buffer], from.map, from.row, from.head, &memory_.full[buffer]);
  }

  Memory& memory_;
  int tiles_;
  Source source_;
};

}  // namespace ringcheck::reference
