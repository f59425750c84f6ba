// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/cuda/ptx.cuh"

// Products of 16 rows, which a warp keeps in shared memory in the order of its fragments, with
// tiles of 16 rows that pass by.
//
// A tile [16, kDim] lies as [kDim / 16][16 rows][16 channels], the eight 16-byte units of such a
// line permuted by unit ^ (row % 8), as tensor copies do it. Products are taken over halves of 8
// rows; column n of a half is its row n ^ 4 (n % 2). With that, all loads below are 16 bytes a lane
// without bank conflicts, and a matrix that came out of one product enters the next as it is.
namespace ringcheck::reference {

constexpr int kLanes = 32, kWarps = 8;  // of a block
constexpr int kTileRows = 16;
template <int kDim>
constexpr int kTileBytes = kTileRows * kDim * 8;

// The part of a warp's [16, 16] matrix that a lane holds: [half][c of ptx::mma], that is the rows
// g, g, g + 8, g + 8 and the columns 2 t, 2 t + 1, 2 t, 2 t + 1 of each half.
using Scores = double[2][4];

// The part of a warp's [16, kDim] matrix that a lane holds: [channels / 8][c of ptx::mma]. Channel
// 16 m + 4 t + e of row g is [2 m + e % 2][e / 2]; [.][e / 2 + 2] is of row g + 8.
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

// 16 rows in the order of fragments: [kDim / 8 steps][2 halves of rows][lanes] of two channels.
template <int kDim>
using Fragments = double2[kDim / 8][2][kLanes];

// Rows `first` ... first + 15 of x [seq, kDim]; zeros behind the last one.
template <int kDim>
__device__ void load_fragments(Fragments<kDim>& to, const double* x, int first, int seq) {
  const Lane lane;
  for (int step = 0; step < kDim / 8; ++step)
    for (int half = 0; half < 2; ++half) {
      const int row = first + 8 * half + lane.g;
      const double* from = x + int64_t(row) * kDim + 8 * step + 2 * lane.t;
      to[step][half][threadIdx.x % kLanes] =
          row < seq ? *reinterpret_cast<const double2*>(from) : double2{0, 0};
    }
}

__device__ inline double2 load_pair(const char* from) {
  return *reinterpret_cast<const double2*>(from);
}

// s = a tile^T: rows times rows.
template <int kDim>
__device__ void multiply_transposed(Scores& s, const Fragments<kDim>& a, const char* tile) {
  const Lane lane;
  const int row = lane.g ^ (lane.g % 2 * 4);
  const char* even = tile + row * 128 + (lane.t ^ row) * 16;
  const char* odd = tile + row * 128 + (lane.t ^ row ^ 4) * 16;
  for (auto& half : s)
    for (double& x : half)
      x = 0;
  struct Step {
    double2 a[2], b[2];
  };
  const auto load = [&](int step) {
    const char* b = (step % 2 == 0 ? even : odd) + step / 2 * 2048;
    const auto& from = a[step];
    return Step{{from[0][threadIdx.x % kLanes], from[1][threadIdx.x % kLanes]},
                {load_pair(b), load_pair(b + 1024)}};
  };
  Step now = load(0);
#pragma unroll
  for (int step = 0; step < kDim / 8; ++step) {
    const Step next = load(step + 1 < kDim / 8 ? step + 1 : step);
    const double x[4] = {now.a[0].x, now.a[1].x, now.a[0].y, now.a[1].y};
    for (int half = 0; half < 2; ++half)
      ptx::mma(s[half], x, now.b[half].x, now.b[half].y);
    now = next;
  }
}

// to += p tile: rows times columns.
template <int kDim>
__device__ void multiply_add(Rows<kDim>& to, const Scores& p, const char* tile) {
  const Lane lane;
  const int even_row = 2 * lane.t, odd_row = (2 * lane.t + 1) ^ 4;
  const char* even = tile + even_row * 128 + (lane.g ^ even_row) * 16;
  const char* odd = tile + odd_row * 128 + (lane.g ^ odd_row) * 16;
  struct Step {
    double2 even, odd;
  };
  const auto load = [&](int step) {
    const int offset = step / 2 * 2048 + step % 2 * 1024;
    return Step{load_pair(even + offset), load_pair(odd + offset)};
  };
  Step now = load(0);
#pragma unroll
  for (int step = 0; step < kDim / 8; ++step) {  // 16 channels, 8 rows
    const Step next = load(step + 1 < kDim / 8 ? step + 1 : step);
    const int m = step / 2, half = step % 2;
    const double x[4] = {p[half][0], p[half][2], p[half][1], p[half][3]};
    ptx::mma(to[2 * m], x, now.even.x, now.odd.x);
    ptx::mma(to[2 * m + 1], x, now.even.y, now.odd.y);
    now = next;
  }
}

}  // namespace ringcheck::reference
