// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/cuda/ptx.cuh"

// Products of 16 rows, which a warp keeps in shared memory in the order of its
// fragments, with tiles of 16 rows that pass by.
//
// A tile [16, kDim] lies as [kDim / 16][16 rows][16 channels], the eight
// 16-byte units of such a line permuted by unit ^ (row % 8), as tensor copies
// do it. Products are taken over halves of 8 rows; column n of a half is its
// row n ^ 4 (n % 2). With that, all loads below are without bank conflicts, and
// a matrix that came out of one product enters the next as it is.
namespace ringcheck::reference {

constexpr int kLanes = 32, kWarps = 8;  // of a block
constexpr int kTileRows = 16;
template <int kDim>
constexpr int kTileBytes = kTileRows* kDim * 8;

// The part of a warp's [16, 16] matrix that a lane holds: [half][c of
// ptx::mma], that is the rows g, g, g + 8, g + 8 and the columns 2 t, 2 t + 1,
// 2 t, 2 t + 1 of each half.
using Scores = double[2][4];

// The same as the left side of a product: [half][a of ptx::mma]. Element c of
// the scores is element left(c) of these.
using Weights = double[2][4];
__host__ __device__ constexpr int left(int c) { return c % 2 * 2 + c / 2; }

// The same of a [16, kDim] matrix: [channels / 8][c of ptx::mma].
template <int kDim>
using Rows = double[kDim / 8][4];

struct Lane {
  int g, t;
  __device__ Lane() : g(threadIdx.x % kLanes / 4), t(threadIdx.x % 4) {}
  __device__ int row(int c) const { return c < 2 ? g : g + 8; }
  // The row of the tile that is column c of a half.
  __device__ int column(int half, int c) const {
    return 8 * half + (c % 2 == 0 ? 2 * t : (2 * t + 1) ^ 4);
  }
};

// 16 rows in the order of fragments: [channels / 8][2][lanes], the channels 2 t
// and 2 t + 1 of eight, of the rows g and g + 8.
template <int kDim>
using Fragments = double2[kDim / 8][2][kLanes];

// Rows `first` ... first + 15 of x [seq, kDim]; zeros behind the last one.
template <int kDim>
__device__ void load_fragments(Fragments<kDim>& to, const double* x, int first, int seq) {
  const Lane lane;
  const auto load = [&](int row, int channel) {
    return row < seq ? *reinterpret_cast<const double2*>(x + int64_t(row) * kDim + channel)
                     : double2{0, 0};
  };
  for (int step = 0; step < kDim / 8; ++step) {
    const double2 upper = load(first + lane.g, 8 * step + 2 * lane.t);
    const double2 lower = load(first + lane.g + 8, 8 * step + 2 * lane.t);
    to[step][0][threadIdx.x % kLanes] = {upper.x, lower.x};
    to[step][1][threadIdx.x % kLanes] = {upper.y, lower.y};
  }
}

// s += a tile^T: rows times rows.
template <int kDim>
__device__ void multiply_transposed(Scores& s, const Fragments<kDim>& a, const char* tile) {
  const Lane lane;
  const int row = lane.g ^ (lane.g % 2 * 4);
  const char* even = tile + row * 128 + (lane.t ^ row) * 16;
  const char* odd = tile + row * 128 + (lane.t ^ row ^ 4) * 16;
#pragma unroll
  for (int step = 0; step < kDim / 8; ++step) {
    const double2 x = a[step][0][threadIdx.x % kLanes], y = a[step][1][threadIdx.x % kLanes];
    for (int half = 0; half < 2; ++half) {
      const char* from = (step % 2 == 0 ? even : odd) + step / 2 * 2048 + half * 1024;
      const double2 b = *reinterpret_cast<const double2*>(from);
      ptx::mma(s[half], {x.x, x.y, y.x, y.y}, b.x, b.y);
    }
  }
}

// to += p tile: rows times columns.
template <int kDim>
__device__ void multiply_add(Rows<kDim>& to, const Weights& p, const char* tile) {
  constexpr int kSteps = kDim / 4;  // 8 channels of one half of the rows
  const Lane lane;
  const auto at = [&](int row, int channel) {
    return tile + row * 128 + ((channel / 2) ^ row) * 16 + channel % 2 * 8;
  };
  const int even_row = 2 * lane.t, odd_row = (2 * lane.t + 1) ^ 4;
  const char* even[2] = {at(even_row, lane.g), at(even_row, lane.g + 8)};
  const char* odd[2] = {at(odd_row, lane.g), at(odd_row, lane.g + 8)};
  const auto right = [&](int step) {
    const int offset = step / 4 * 2048 + step / 2 % 2 * 1024, n = step % 2;
    const auto value = [](const char* from) { return *reinterpret_cast<const double*>(from); };
    return double2{value(even[n] + offset), value(odd[n] + offset)};
  };
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const double2 b = right(step);
    ptx::mma(to[step / 4 * 2 + step % 2], p[step / 2 % 2], b.x, b.y);
  }
}

}  // namespace ringcheck::reference
