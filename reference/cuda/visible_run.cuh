// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstdint>

#include "reference/cuda/tile_products.cuh"

namespace ringcheck::reference {

constexpr unsigned kAll = 0xffffffffu;

// The keys begin ... end - 1.
struct Run {
  int begin = 0, end = 0;
  __device__ bool empty() const { return begin >= end; }
  __device__ bool sees(int key) const { return begin <= key && key < end; }
};

// What the runs of some queries have in common.
struct Hull {
  Run some{INT_MAX, 0};   // no key outside is seen by any of them
  Run every{0, INT_MAX};  // every key inside is seen by all of them

  Hull() = default;
  __device__ explicit Hull(const Run& run)
      : some(run.empty() ? Run{INT_MAX, 0} : run), every(run.empty() ? Run{0, 0} : run) {}

  __device__ bool touches(int first, int size) const {
    return some.begin < first + size && first < some.end;
  }
  __device__ bool covers(int first, int size) const {
    return every.begin <= first && first + size <= every.end;
  }
};

__device__ inline Hull join(const Hull& a, const Hull& b) {
  Hull hull;
  hull.some = {min(a.some.begin, b.some.begin), max(a.some.end, b.some.end)};
  hull.every = {max(a.every.begin, b.every.begin), min(a.every.end, b.every.end)};
  return hull;
}

// The hull of the hulls that the lanes of a warp hold.
__device__ inline Hull warp_hull(const Hull& lane) {
  Hull hull;
  hull.some.begin = __reduce_min_sync(kAll, lane.some.begin);
  hull.some.end = __reduce_max_sync(kAll, lane.some.end);
  hull.every.begin = __reduce_max_sync(kAll, lane.every.begin);
  hull.every.end = __reduce_min_sync(kAll, lane.every.end);
  return hull;
}

// The runs of a mask, one for each query.
struct Runs {
  const int32_t* begin;  // [seq]
  const int32_t* end;    // [seq]
  int seq;

  __device__ Run operator[](int query) const {
    return query < seq ? Run{begin[query], min(end[query], seq)} : Run{};
  }
  // The lanes of a warp take the queries first ... first + 15, twice.
  __device__ Run of_lane(int first) const { return (*this)[first + threadIdx.x % kTileRows]; }
};

// What the warps of a block keep in shared memory to agree on the tiles they
// need.
struct BlockRun {
  int begin[kWarps], end[kWarps];
};

// The tiles of what `hull`, one of each warp, has together.
__device__ inline Run block_tiles(const Hull& hull, BlockRun& memory) {
  memory.begin[threadIdx.x / kLanes] = hull.some.begin;
  memory.end[threadIdx.x / kLanes] = hull.some.end;
  __syncthreads();
  Run all{INT_MAX, 0};
  for (int warp = 0; warp < kWarps; ++warp)
    all = {min(all.begin, memory.begin[warp]), max(all.end, memory.end[warp])};
  if (all.empty())
    return {};
  return {all.begin / kTileRows, (all.end + kTileRows - 1) / kTileRows};
}

}  // namespace ringcheck::reference
