// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_instructions.cuh"

// What the passes have in common: tiles in shared memory, their products, which pairs are visible.
namespace ringcheck::wgmma {

constexpr int kGroupRows = 64;  // rows of a warpgroup's products
constexpr int kGroups = 2;      // warpgroups that compute; one more copies
constexpr int kBlockRows = kGroups * kGroupRows;
constexpr int kThreads = (kGroups + 1) * kWarpgroup;
constexpr int kArrivals = kGroups * kWarpgroup / kWarp;  // a warp each, to hand a tile back
constexpr int kFar = 1 << 30;
constexpr int kCopierRegisters = 24, kComputerRegisters = 240;

// [batch, heads, slots, dim], rows contiguous, float32.
struct Result {
  float* data;
  int64_t batch, head, slot;  // strides
  __device__ float* row(int b, int h, int s) const {
    return data + b * batch + h * head + s * slot;
  }
};

// Columns that a row sees: [row + lower, row + upper], `last` at most.
struct Window {
  int lower, upper, last;
  __device__ int first_of(int row) const { return row + lower; }
  __device__ int last_of(int row) const { return min(last, row + upper); }
  // Of the rows of a warpgroup from `row` on, does each see each of these columns?
  __device__ bool whole(int row, int column, int columns) const {
    return first_of(row + kGroupRows - 1) <= column && column + columns - 1 <= last_of(row);
  }
};

// Tiles [begin, end) of `size` columns that any of these rows sees.
struct TileRange {
  int begin, end;
  __device__ TileRange(const Window& seen, int row, int last_row, int size)
      : begin(max(0, seen.first_of(row)) / size),
        end((max(-1, seen.last_of(last_row)) + size) / size) {
    end = max(begin, end);
  }
  __device__ int count() const { return end - begin; }
};

// One strip of a block: its queries against its keys.
struct Problem {
  Result out, dq, dk, dv;
  float* lse_out;      // [batch, q_heads, lse_rows], at the first row of the strip
  const float* stats;  // [batch, q_heads, 2, padded]: LSE in base 2 and D; +inf and 0 where no row is
  Window seen;         // key columns by query rows
  int rows, columns, lse_rows, padded;
  int q_heads, group, dim, dim_v;
  float scale, scale2;  // of the scores; times log2(e)
  bool add;             // dK and dV to what is there
};

// Where a thread is. The copying warpgroup is the first.
struct Place {
  int group = static_cast<int>(threadIdx.x) / kWarpgroup - 1;  // of those that compute
  int lane = threadIdx.x % kWarp;
  int row = group * kGroupRows + threadIdx.x % kWarpgroup / kWarp * 16 + lane / 4;  // and row + 8
  int column = lane % 4 * 2;  // and each 8 further, and its right neighbour
};

template <int Rows, int D>
constexpr int kTileBytes = Rows * D * 2;

// Rows slot, slot + 1, ... of one head into shared memory, panel after panel.
template <int Rows, int D>
__device__ void copy_tile(const CUtensorMap& from, char* to, Barrier& barrier, int slot, int head,
                          int batch) {
#pragma unroll
  for (int panel = 0; panel < D / kPanel; ++panel)
#pragma unroll
    for (int row = 0; row < Rows; row += kGroupRows)
      copy_box(from, to + (panel * Rows + row) * kRow, barrier, panel * kPanel, slot + row, head,
               batch);
}

// d = a bᵀ: 64 rows of a tile of kBlockRows, N rows of a tile of N, over D channels.
template <class T, int N, int D>
__device__ void multiply_rows(float (&d)[N / 2], const char* a, const char* b) {
  const uint64_t rows = matrix(a), columns = matrix(b);
  Product<T, N>::template of_rows<0>(d, rows, columns);
#pragma unroll
  for (int k = 16; k < D; k += 16) {
    const int panel = k / kPanel, inside = k % kPanel * 2;
    Product<T, N>::template of_rows<1>(d, rows + step(panel * kBlockRows * kRow + inside),
                                       columns + step(panel * N * kRow + inside));
  }
}

// d += a b: a in registers, 64 x K; a tile of K rows and N channels.
template <class T, int N, int K>
__device__ void multiply_by(float (&d)[N / 2], const uint32_t (&a)[K / 4], const char* b) {
  const uint64_t rows = matrix(b, K * kRow);
#pragma unroll
  for (int k = 0; k < K; k += 16) Product<T, N>::by_rows(d, a + k / 4, rows + step(k * kRow));
}

// An accumulator, rounded, as the left operand of a product.
template <class T, int N>
__device__ void pack_all(uint32_t (&to)[N / 2], const float (&from)[N]) {
#pragma unroll
  for (int i = 0; i < N / 2; ++i) to[i] = pack<T>(from[2 * i], from[2 * i + 1]);
}

// Scores of pairs that are not visible become -inf. `row`: of this thread, in the strip.
template <int N>
__device__ void hide(float (&s)[N / 2], const Window& seen, int row, int column) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int first = seen.first_of(row + 8 * half) - column;
    const int last = seen.last_of(row + 8 * half) - column;
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      const int at = i / 2 * 8 + i % 2;
      if (at < first || at > last) s[i / 2 * 4 + 2 * half + i % 2] = -INFINITY;
    }
  }
}

// Row `row` of an accumulator, and that 8 further on if `half`, times `factor`.
template <int N>
__device__ void store(float* row, const float (&x)[N / 2], int half, float factor, int column,
                      int dim, bool add = false) {
#pragma unroll
  for (int i = 0; i < N / 8; ++i) {
    if (i * 8 >= dim) break;
    auto* to = reinterpret_cast<float2*>(row + i * 8 + column);
    float2 value{x[4 * i + 2 * half] * factor, x[4 * i + 2 * half + 1] * factor};
    if (add) {
      const float2 old = *to;
      value = {old.x + value.x, old.y + value.y};
    }
    *to = value;
  }
}

// A ring of tiles between the copier and those who compute.
template <int Stages>
struct Turn {
  int stage = 0, parity = 0;
  __device__ void next() {
    if (++stage == Stages) stage = 0, parity ^= 1;
  }
};

// When the whole warp has read it.
__device__ inline void hand_back(Barrier& barrier, int lane) {
  __syncwarp();
  if (lane == 0) arrive(barrier);
}

}  // namespace ringcheck::wgmma
