// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cp/layout/positions.h"
#include "cp/ledger/memory.h"

namespace ringcheck {

// The sizes of the keys and values of one shard.
struct KvShape {
  int64_t batch = 0, heads = 0, slots = 0, dim = 0, dim_v = 0;
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;

  int64_t elements() const { return batch * heads * slots * (dim + dim_v); }
  int64_t bytes() const { return elements() * static_cast<int64_t>(c10::elementSize(dtype)); }
  KvShape in(at::ScalarType other) const;  // the same block in another dtype
};

// Keys and values in one packed buffer, which is one message: all of K, then all of V. Of some entries
// of a batch it is the part of the buffer from their K to their V.
struct PackedKv {
  at::Tensor packed;  // [elements]; undefined where K and V lie apart
  KvShape shape;
  int64_t between = 0;  // elements of other entries behind K and before V
  at::Tensor k_apart = {}, v_apart = {};

  at::Tensor k() const;  // [batch, heads, slots, dim], a view
  at::Tensor v() const;  // [batch, heads, slots, dim_v], a view
};

// A block knows where it is.
struct KvBlock : PackedKv {
  Positions positions;
  HeadRange heads;
};

struct QBlock {
  at::Tensor q;  // [batch, q_heads, slots, dim]
  Positions positions;
};

// Entries [first, first + count) of the batch of a block: the same memory.
KvBlock entries_of(const KvBlock& block, int64_t first, int64_t count);

// A flat buffer for one block, counted under its tag.
at::Tensor buffer(const KvShape& shape, MemoryTag tag);

// k [batch, heads, slots, dim] and v [batch, heads, slots, dim_v], of one dtype, as they are.
KvBlock apart(const at::Tensor& k, const at::Tensor& v, Positions positions);

// A copy of them, packed.
KvBlock pack(const at::Tensor& k, const at::Tensor& v, Positions positions);

}  // namespace ringcheck
