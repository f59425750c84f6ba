// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <nv/target>

#include "reference/cuda/fused_attention.h"
#include "reference/cuda/launch.cuh"
#include "reference/cuda/power.cuh"
#include "reference/cuda/tile_products.cuh"
#include "reference/cuda/tile_ring.cuh"
#include "reference/cuda/visible_run.cuh"

// O, the maximum and the sum of the weights, by the softmax that is carried
// along (Milakov and Gimelshein 2018). A block has 128 queries, a warp 16 of
// them; all keys pass by in tiles of 16.
namespace ringcheck::reference {
namespace {

constexpr int kBlockRows = kWarps * kTileRows, kBuffers = 6;

struct Forward {
  FusedInputs in;
  FusedOutputs out;
  double factor;  // of a score, to sixteenths of powers of two
};

template <int kDim>
using Ring = TileRing<kDim, kBuffers, kWarps, KeysAndValues>;

template <int kDim>
struct ForwardMemory {
  typename Ring<kDim>::Memory ring;
  Fragments<kDim> q[kWarps];
  PowerTable powers;
  BlockRun run;
};

// The softmax of 16 queries so far. A lane has two of them, g and g + 8.
// Weights are relative to 2^(level / 16), where level is a multiple of 16, so
// that changing it rounds nothing.
template <int kDim>
struct Softmax {
  static constexpr int64_t kTooHigh = kIntegerBits + 64 * kParts;

  Rows<kDim> o = {};
  double max[2] = {-INFINITY, -INFINITY};                   // of the scores, before they are scaled
  double sum[2] = {0, 0};                                   // of the lane's columns
  double lost[2] = {0, 0};                                  // by rounding that sum; below a rounding of it
  double base[2] = {kInteger + 0x1p50, kInteger + 0x1p50};  // kInteger - level; at first below all
  Run run[2];
  double factor;

  // The weights of a tile's scores. `key` is the first one of the tile.
  template <bool kHidden>
  __device__ void weigh(Weights& weights, const Scores& s, int key, const PowerTable& powers) {
    const Lane lane;
    const auto visible = [&](int half, int c) {
      return !kHidden || run[c / 2].sees(key + lane.column(half, c));
    };
    Scores shifted;
    const auto shift = [&] {
      for (int half = 0; half < 2; ++half)
        for (int c = 0; c < 4; ++c)
          shifted[half][c] = fma(s[half][c], factor, base[c / 2]);
    };
    shift();
    bool high = false;
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 4; ++c)
        if (visible(half, c)) {
          max[c / 2] = s[half][c] > max[c / 2] ? s[half][c] : max[c / 2];
          high |= __double_as_longlong(shifted[half][c]) > kTooHigh;
        }
    if (__any_sync(kAll, high)) {
      raise();
      shift();
    }
    for (int half = 0; half < 2; ++half)
      for (int c = 0; c < 4; ++c) {
        const double n = shifted[half][c] - base[c / 2];
        const double p = power(shifted[half][c], fma(s[half][c], factor, -n), powers);
        weights[half][left(c)] = visible(half, c) ? p : 0;
      }
    for (int row = 0; row < 2; ++row) {
      const int a = left(2 * row), b = left(2 * row + 1);
      add(row, (weights[0][a] + weights[0][b]) + (weights[1][a] + weights[1][b]));
    }
  }

  // With compensation (Kahan 1965): in a plain sum of equal weights every addition errs alike.
  __device__ void add(int row, double x) {
    const double term = x + lost[row], next = sum[row] + term;
    lost[row] = term - (next - sum[row]);
    sum[row] = next;
  }

  // The levels follow the maxima.
  __device__ void raise() {
    for (int half = 0; half < 2; ++half) {
      max[half] = row_max(max[half]);
      if (max[half] == -INFINITY)
        continue;
      const double next = kInteger - rint(max[half] * factor / kParts) * kParts;
      const double shrink = exp2(fmax((next - base[half]) / kParts, -2000.0));
      base[half] = next;
      sum[half] *= shrink;
      lost[half] *= shrink;
      for (auto& x : o)
        for (int c = 0; c < 2; ++c)
          x[2 * half + c] *= shrink;
    }
  }

  // Over the four lanes that share a row.
  static __device__ double row_max(double x) {
    x = fmax(x, __shfl_xor_sync(kAll, x, 1));
    return fmax(x, __shfl_xor_sync(kAll, x, 2));
  }
  static __device__ double row_sum(double x) {
    x += __shfl_xor_sync(kAll, x, 1);
    return x + __shfl_xor_sync(kAll, x, 2);
  }

  // `first`: the first query; `head`: of the query heads.
  __device__ void store(const Forward& f, int first, int head) {
    const Lane lane;
    for (int half = 0; half < 2; ++half) {
      const int query = first + lane.g + 8 * half;
      const double total = row_sum(sum[half]), top = row_max(max[half]);
      if (query >= f.in.sizes.seq)
        continue;
      const int64_t row = head * f.in.sizes.seq + query;
      const bool blind = run[half].empty();
      if (lane.t == 0) {
        f.out.max[row] = blind ? 0 : top * f.in.scale;
        f.out.sum[row] =
            blind ? 0 : total * exp2(fma(-top, factor, kInteger - base[half]) / kParts);
      }
      const double divisor = blind ? 1 : total;
      for (int n = 0; n < kDim / 8; ++n)
        *reinterpret_cast<double2*>(f.out.o + row * kDim + 8 * n + 2 * lane.t) = {
            o[n][2 * half] / divisor, o[n][2 * half + 1] / divisor};
    }
  }
};

// All tiles of keys that the block needs, by a warp whose queries see those of `hull`.
template <int kDim>
__device__ void pass_keys(Softmax<kDim>& softmax, Ring<kDim>& ring, const Fragments<kDim>& q,
                          const PowerTable& powers, const Hull& hull, const Run& tiles) {
  for (int i = 0; i < tiles.end - tiles.begin; ++i) {
    const int key = (tiles.begin + i) * kTileRows;
    const bool touched = hull.touches(key, kTileRows);
    const auto k_tile = ring.take(2 * i);
    Scores s = {};
    Weights p;
    if (touched)
      multiply_transposed<kDim>(s, q, k_tile.data);
    ring.leave(k_tile);
    const auto v_tile = ring.take(2 * i + 1);
    if (touched && hull.covers(key, kTileRows))
      softmax.template weigh<false>(p, s, key, powers);
    else if (touched)
      softmax.template weigh<true>(p, s, key, powers);
    if (touched)
      multiply_add<kDim>(softmax.o, p, v_tile.data);
    ring.leave(v_tile);
  }
}

template <int kDim>
__device__ void forward(const Forward& f, const CUtensorMap& k, const CUtensorMap& v) {
  extern __shared__ __align__(1024) char raw[];
  auto& memory = *reinterpret_cast<ForwardMemory<kDim>*>(raw);
  const int warp = threadIdx.x / kLanes, seq = f.in.sizes.seq, head = blockIdx.x;
  const int first = (gridDim.y - 1 - blockIdx.y) * kBlockRows + warp * kTileRows;
  const Runs runs{f.in.begin, f.in.end, seq};
  const Lane lane;

  Softmax<kDim> softmax;
  softmax.factor = f.factor;
  for (int half = 0; half < 2; ++half)
    softmax.run[half] = runs[first + lane.g + 8 * half];
  const Hull hull = warp_hull(Hull(runs.of_lane(first)));
  const Run tiles = block_tiles(hull, memory.run);
  const int count = tiles.end - tiles.begin;
  Ring<kDim> ring(memory.ring, 2 * count,
                  {&k, &v, head / int(f.in.sizes.shared), tiles.begin * kTileRows, kTileRows});
  if (threadIdx.x == 0)
    ring.start();
  fill(memory.powers);
  load_fragments<kDim>(memory.q[warp], f.in.q + int64_t(head) * seq * kDim, first, seq);
  __syncthreads();

  pass_keys<kDim>(softmax, ring, memory.q[warp], memory.powers, hull, tiles);
  softmax.store(f, first, head);
}

template <int kDim>
__global__ void __launch_bounds__(kWarps* kLanes, 1)
    forward_kernel(const Forward f, const __grid_constant__ CUtensorMap k,
                   const __grid_constant__ CUtensorMap v) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (forward<kDim>(f, k, v);))
}

static_assert(sizeof(ForwardMemory<128>) <= kMostShared);

template <int kDim>
void launch_forward(const Forward& f, cudaStream_t stream) {
  const FusedSizes& n = f.in.sizes;
  const dim3 grid(n.pairs * n.shared, (n.seq + kBlockRows - 1) / kBlockRows);
  launch(forward_kernel<kDim>, grid, kWarps * kLanes, sizeof(ForwardMemory<kDim>), stream, f,
         tile_map(f.in.k, n.pairs, n.seq, kDim), tile_map(f.in.v, n.pairs, n.seq, kDim));
}

}  // namespace

void fused_forward(const FusedInputs& inputs, const FusedOutputs& outputs, cudaStream_t stream) {
  const Forward f{inputs, outputs, inputs.scale * kLog2e * kParts};
  if (inputs.sizes.dim == 64)
    launch_forward<64>(f, stream);
  else
    launch_forward<128>(f, stream);
}

}  // namespace ringcheck::reference
