// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/flash_memory.h"

#include <ATen/native/CPUBlas.h>

#include <algorithm>

namespace ringcheck {
namespace {

int64_t even(int64_t n) { return n + n % 2; }

}  // namespace

FlashMemory::FlashMemory(const BlockShape& shape, bool masked)
    : dtype_(shape.dtype), stored_(c10::elementSize(shape.dtype)),
      wide_(c10::elementSize(accumulation_type(shape.dtype))), heads_(shape.batch * shape.q_heads),
      queries_(count(shape.visibility.queries())), keys_(count(shape.visibility.keys())),
      dim_(shape.dim), query_tile_(std::min<int64_t>(
          queries_, queries_ >= 768 ? 256 : queries_ >= 192 ? 64 : 32)),
      key_tile_(std::min<int64_t>(keys_, 512)), lines_(heads_ * queries_), q_(lines_ * dim_),
      k_(shape.batch * shape.kv_heads * keys_ * dim_), repeated_k_(heads_ * keys_ * dim_),
      turned_(shape.scale <= 0), repeats_(shape.q_heads != shape.kv_heads), masked_(masked),
      half_(!masked && !shape.visibility.full()), one_head_(shape.q_heads == 1) {}

// Q turned upright, K and V repeated, O and LSE of LibTorch, its scores and sums of a tile, in 16
// bits the probabilities of it.
int64_t FlashMemory::forward() const {
  const int64_t tile = query_tile_ * (key_tile_ + 2 + dim_) * wide_;
  const int64_t inside = stored_ < wide_ ? packed_elements() * stored_ : 0;
  return mask_bytes(stored_, ((turned_ + 1) * q_ + repeats_ * 2 * repeated_k_) * stored_ +
                                 lines_ * wide_ + tile + inside);
}

// Everything wide: what was narrow, Q turned upright, K and V repeated, dO made contiguous; and either
// the tiles of P and dP, or what is made of the results afterwards.
int64_t FlashMemory::backward() const {
  const bool narrow = stored_ < wide_, strided = !one_head_ && queries_ > 1;
  const int64_t gradients = q_ + 2 * repeated_k_;
  const int64_t taken = (3 * narrow + turned_ + strided) * q_ + repeats_ * 2 * repeated_k_;
  const int64_t tiles = query_tile_ * (2 * key_tile_ + 1);
  const int64_t after = turned_ * q_ + repeats_ * 2 * k_;
  return (narrow * 2 * k_ + lines_) * wide_ +
         mask_bytes(wide_, (gradients + std::max(taken + tiles, after)) * wide_);
}

// An additive mask, which queries see nothing, and what makes them or lives beside them.
int64_t FlashMemory::mask_bytes(int64_t element, int64_t beside) const {
  if (!masked_) return beside;
  const int64_t pairs = queries_ * keys_;
  return pairs * element + queries_ + std::max(2 * pairs, beside);
}

// Of 16-bit numbers: the probabilities of a tile and, where the processor multiplies packed matrices
// and there is enough to multiply, K and V packed, a tile of K transposed, and Q of an even width.
int64_t FlashMemory::packed_elements() const {
  const bool bf16 = dtype_ == at::kBFloat16;
  const int64_t least = bf16 ? 64 : 16;
  const int64_t tiles = (queries_ + query_tile_ - 1) / query_tile_;
  const int64_t reach = half_ ? std::min(queries_, keys_) : keys_;
  const bool packs = at::native::cpublas::could_pack(dtype_) && queries_ >= least &&
                     keys_ >= least && tiles * query_tile_ * reach >= (bf16 ? 4 : 1) * keys_;
  if (!packs) return query_tile_ * key_tile_;
  const int64_t tail = (keys_ - 1) % key_tile_ + 1;
  const int64_t rows = (keys_ - 1) / key_tile_ * even(key_tile_) + even(tail);
  return query_tile_ * even(key_tile_) + heads_ * (even(dim_) * keys_ + rows * dim_) +
         key_tile_ * dim_ + dim_ % 2 * query_tile_ * even(dim_);
}

}  // namespace ringcheck
