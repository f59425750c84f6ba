// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cp/layout/moves.h"

namespace ringcheck {
namespace {

using Word = uint4;  // as much as a thread moves at a time
constexpr int kThreads = 256, kEach = 4, kAtOnce = 24, kOuter = 4;
constexpr int64_t kMostRows = int64_t{1} << 30;

// Rows of whole words, at strides (in words) of their own on both sides.
struct Rows {
  Word* to;
  const Word* from;
  int64_t to_strides[kOuter], from_strides[kOuter];
  int sizes[kOuter];  // the last one varies fastest
  int words;          // a row
  int rows;
};
struct All {
  Rows rows[kAtOnce];
};

// A block takes as many rows as its threads have words for, or a part of a long one: kEach words a
// thread, all of which are read before the first is written.
constexpr int kPart = kThreads * kEach;
__host__ __device__ int rows_a_block(const Rows& r) { return max(1, kThreads / r.words); }
__host__ __device__ int blocks_a_row(const Rows& r) { return (r.words + kPart - 1) / kPart; }

__global__ void move_kernel(const __grid_constant__ All all) {
  const Rows& r = all.rows[blockIdx.y];
  const int each = rows_a_block(r), parts = blocks_a_row(r);
  const int width = min(r.words, kThreads), thread = static_cast<int>(threadIdx.x);
  int row = static_cast<int>(blockIdx.x) / parts * each + thread / width;
  const int first = static_cast<int>(blockIdx.x) % parts * kPart + thread % width;
  if (thread / width >= each || row >= r.rows) return;
  int64_t to = 0, from = 0;
  for (int d = kOuter - 1; d >= 0; --d) {
    const int i = row % r.sizes[d];
    row /= r.sizes[d];
    to += i * r.to_strides[d];
    from += i * r.from_strides[d];
  }
  Word words[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    if (const int word = first + i * kThreads; word < r.words) words[i] = r.from[from + word];
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    if (const int word = first + i * kThreads; word < r.words) r.to[to + word] = words[i];
}

// The copy as rows, where it is one of whole words in few dimensions.
std::optional<Rows> rows_of(const Moves::Move& move) {
  const at::Tensor &to = move.to, &from = move.from;
  if (to.scalar_type() != from.scalar_type() || to.sizes() != from.sizes() ||
      to.device() != from.device())
    return std::nullopt;
  Rows rows{static_cast<Word*>(to.mutable_data_ptr()), static_cast<const Word*>(from.const_data_ptr()),
            {}, {}, {1, 1, 1, 1}, 0, 1};
  const auto bytes = static_cast<int64_t>(to.element_size());
  int64_t width = bytes, dim = to.dim() - 1;
  // Dimensions that lie behind each other on both sides are one.
  for (; dim >= 0; --dim) {
    const bool behind = to.stride(dim) * bytes == width && from.stride(dim) * bytes == width;
    if (to.size(dim) != 1 && !behind) break;
    width *= to.size(dim);
  }
  const auto whole = [](int64_t x) { return x % static_cast<int64_t>(sizeof(Word)) == 0; };
  const auto at = [](const void* p) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(p)); };
  if (!whole(width) || !whole(at(rows.to)) || !whole(at(rows.from))) return std::nullopt;
  int outer = kOuter;
  int64_t count = 1;
  for (; dim >= 0; --dim) {
    if (to.size(dim) == 1) continue;
    const int64_t there = to.stride(dim) * bytes, here = from.stride(dim) * bytes;
    if (outer == 0 || !whole(there) || !whole(here)) return std::nullopt;
    --outer;
    rows.sizes[outer] = static_cast<int>(to.size(dim));
    rows.to_strides[outer] = there / static_cast<int64_t>(sizeof(Word));
    rows.from_strides[outer] = here / static_cast<int64_t>(sizeof(Word));
    count *= to.size(dim);
  }
  const int64_t words = width / static_cast<int64_t>(sizeof(Word));
  if (words > kMostRows || count > kMostRows) return std::nullopt;
  rows.words = static_cast<int>(words);
  rows.rows = static_cast<int>(count);
  return rows;
}

unsigned blocks_of(const Rows& r) {
  return static_cast<unsigned>((r.rows + rows_a_block(r) - 1) / rows_a_block(r) * blocks_a_row(r));
}

void launch(const All& all, int count, const at::Device& device) {
  if (count == 0) return;
  const c10::cuda::CUDAGuard guard(device);
  unsigned blocks = 0;
  for (int i = 0; i < count; ++i) blocks = std::max(blocks, blocks_of(all.rows[i]));
  move_kernel<<<dim3(blocks, count), kThreads, 0, c10::cuda::getCurrentCUDAStream().stream()>>>(all);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void make(std::vector<Moves::Move>& list) {
  const at::Device device = list.front().to.device();
  All all;
  int count = 0;
  std::erase_if(list, [&](const Moves::Move& move) {
    if (move.to.numel() == 0) return true;
    const std::optional<Rows> rows = move.to.device() == device ? rows_of(move) : std::nullopt;
    if (!rows) return false;
    all.rows[count++] = *rows;
    if (count == kAtOnce) launch(all, std::exchange(count, 0), device);
    return true;
  });
  launch(all, count, device);
}

const MoveForms::Add registered{"cuda", make};

}  // namespace
}  // namespace ringcheck
