// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/wgmma_instructions.cuh"

// What the passes have in common: tiles in shared memory, their products, which pairs are visible.
namespace ringcheck::wgmma {

constexpr int kWarp = 32, kWarpgroup = 128;
constexpr int kPanel = 64;        // channels that lie together in shared memory: 128 bytes, swizzled
constexpr int kRow = 2 * kPanel;  // bytes

constexpr int kGroupRows = 64;  // rows of a warpgroup's products
constexpr int kGroups = 2;      // warpgroups that compute; one more copies
constexpr int kBlockRows = kGroups * kGroupRows;
constexpr int kThreads = (kGroups + 1) * kWarpgroup;
constexpr int kArrivals = kGroups * kWarpgroup / kWarp;  // a warp each, to hand a tile back
constexpr int kProcessors = 132;  // of an H100 and an H200
constexpr int kMostStrips = 16;  // of a launch
constexpr float kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;
constexpr int kCopierRegisters = 24, kComputerRegisters = 240;
constexpr int kMostShared = 227 * 1024;  // bytes of a thread block

// Of dK or dV of D channels those that a thread block computes: registers hold no more of both. Where
// there are more, the blocks of each slice compute the scores again.
template <int D>
struct Slice {
  static constexpr int kChannels = D < 128 ? D : 128, kCount = D / kChannels;
  static_assert(D % kChannels == 0);
  __device__ static int channel() {  // where it begins
    return kCount == 1 ? 0 : static_cast<int>(blockIdx.z) % kCount * kChannels;
  }
  // A tile of so many rows, from here on.
  template <int Rows>
  __device__ static const char* of(const char* tile) {
    return tile + channel() / kPanel * Rows * kRow;
  }
};

// Tiles at a time: as many as fit beside what stays.
constexpr int stages(int most, int stay, int each) {
  const int fit = (kMostShared - stay) / each;
  return fit < most ? fit : most;
}

// [batch, heads, slots, dim], rows contiguous, float32.
struct Result {
  float* data;
  int64_t batch, head, slot;  // strides
  __device__ float* row(int b, int h, int s) const {
    return data + b * batch + h * head + s * slot;
  }
};

// A strip of a block, seen from its rows: row r of [row, last_row] sees the columns
// [r + lower, r + upper] that are in [column, last_column]. Rows, columns: slots of the block.
struct Window {
  int row, last_row, column, last_column, lower, upper;

  __host__ __device__ Window transposed() const {
    return {column, last_column, row, last_row, -upper, -lower};
  }
  __device__ bool has(int r) const { return row <= r && r <= last_row; }
  __device__ int first_of(int r) const { return max(column, r + lower); }
  __device__ int last_of(int r) const { return min(last_column, r + upper); }
  // Of the rows of a warpgroup from r on, does each see each of these columns?
  __device__ bool whole(int r, int c, int columns) const {
    const int last = r + kGroupRows - 1;
    return has(r) && has(last) && first_of(last) <= c && c + columns - 1 <= last_of(r);
  }
};

// Tiles [begin, end) of `size` columns that any of the rows [r, r + kBlockRows) sees.
struct TileRange {
  int begin = 0, end = 0;
  __device__ TileRange(const Window& seen, int r, int size) {
    const int first = max(r, seen.row), last = min(r + kBlockRows - 1, seen.last_row);
    const int from = max(0, seen.first_of(first)), to = seen.last_of(last);
    if (first <= last && from <= to) begin = from / size, end = to / size + 1;
  }
  __device__ int count() const { return end - begin; }
};

// A block: all its queries (rows) against all its keys (columns). Q, K, V and dO come through the
// copy engine in 16 bits, and what is here is float32. `group` query heads share a key. LSE is a
// natural logarithm, delta the sum over channels of dO * O; a row that sees nothing has LSE = -inf.
struct Problem {
  Result out, dq, dk, dv;
  float* lse_out;           // [batch, q_heads, rows]
  const float *lse, *delta;  // likewise
  int rows, columns, q_heads, group, dim, dim_v;
  float scale, scale2;  // of the scores; times log2(e)
  int query_blocks, strips;
  bool add;  // dK and dV to what is there
  Window strip[kMostStrips];

  __device__ int64_t at(int batch, int head, int row) const {
    return (int64_t(batch) * q_heads + head) * rows + row;
  }
  // LSE in base 2. Of a row that is not there, or saw nothing, +inf: its P is 0.
  __device__ float lse2(int batch, int head, int row) const {
    const float l = row < rows ? lse[at(batch, head, row)] : -INFINITY;
    return l == -INFINITY ? INFINITY : l * kLog2E;
  }
  __device__ float delta_of(int batch, int head, int row) const {
    return row < rows ? delta[at(batch, head, row)] : 0.0f;
  }
};

// Which block of which head a thread block computes. As many heads at a time as fill the GPU once:
// those that run together share what they read. Of these heads the same block, the longest first.
struct Spot {
  int block, head;
  __device__ Spot(int blocks, int heads) {
    const int most = max(1, kProcessors / blocks);
    const int first = static_cast<int>(blockIdx.x) / (most * blocks) * most;
    const int together = min(most, heads - first), rest = blockIdx.x - first * blocks;
    block = rest / together, head = first + rest % together;
  }
};

// Where a thread is. The copying warpgroup is the first.
struct Place {
  int group_row = (static_cast<int>(threadIdx.x) / kWarpgroup - 1) * kGroupRows;
  int row = group_row + threadIdx.x % kWarpgroup / kWarp * 16 + threadIdx.x % kWarp / 4;  // and + 8
  int column = threadIdx.x % 4 * 2;  // and each 8 further, and its right neighbour
  // The rows of this warpgroup in a tile of kBlockRows.
  __device__ const char* own(const char* tile) const { return tile + group_row * kRow; }
};

template <int Rows, int D>
constexpr int kTileBytes = Rows * D * 2;

// Rows slot, slot + 1, ... of one head into shared memory, panel after panel: D channels from `channel` on.
template <int Rows, int D>
__device__ void copy_tile(const CUtensorMap& from, char* to, Barrier& barrier, int slot, int head,
                          int batch, int channel = 0) {
#pragma unroll
  for (int panel = 0; panel < D / kPanel; ++panel)
#pragma unroll
    for (int row = 0; row < Rows; row += kGroupRows)
      copy_box(from, to + (panel * Rows + row) * kRow, barrier, channel + panel * kPanel, slot + row,
               head, batch);
}

// A matrix in shared memory as the tensor cores are told of it: rows of 128 bytes, swizzled, groups
// of 8 rows one after another; `panel` bytes from 64 channels to the next where the product runs
// over the rows.
__device__ inline uint64_t matrix(const void* p, int panel = 16) {
  constexpr uint64_t kSwizzled = 1, kGroup = 8 * kRow;
  return (shared_address(p) & 0x3ffff) >> 4 | static_cast<uint64_t>(panel >> 4) << 16 |
         (kGroup >> 4) << 32 | kSwizzled << 62;
}
__device__ constexpr uint64_t step(int bytes) { return bytes >> 4; }

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

// Scores of pairs that are not visible become -inf. r, c: where the rows of the thread block and
// the columns of the tile begin in the block.
template <int N>
__device__ void hide(float (&s)[N / 2], const Window& seen, const Place& at, int r, int c) {
  if (seen.whole(r + at.group_row, c, N)) return;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = r + at.row + 8 * half;
    const int first = seen.first_of(row) - c - at.column;
    const int last = seen.has(row) ? seen.last_of(row) - c - at.column : -1;
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
      const int column = i / 2 * 8 + i % 2;
      if (column < first || column > last) s[i / 2 * 4 + 2 * half + i % 2] = -INFINITY;
    }
  }
}

// Row `row` of an accumulator, and that 8 further on if `half`, times `factor`, to the channels from
// `first` on of a row of `dim`.
template <int N>
__device__ void store(float* row, const float (&x)[N], int half, float factor, int column, int dim,
                      int first = 0, bool add = false) {
#pragma unroll
  for (int i = 0; i < N / 4; ++i) {
    if (first + i * 8 >= dim) break;
    auto* to = reinterpret_cast<float2*>(row + first + i * 8 + column);
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
__device__ inline void hand_back(Barrier& barrier) {
  __syncwarp();
  if (threadIdx.x % kWarp == 0) arrive(barrier);
}

}  // namespace ringcheck::wgmma
