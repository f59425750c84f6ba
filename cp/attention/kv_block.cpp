// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/kv_block.h"

#include <ATen/ATen.h>

namespace ringcheck {

KvShape KvShape::in(at::ScalarType other) const {
  KvShape shape = *this;
  shape.dtype = other;
  return shape;
}

at::Tensor PackedKv::k() const {
  if (k_apart.defined()) return k_apart;
  return packed.narrow(0, 0, shape.elements() / (shape.dim + shape.dim_v) * shape.dim)
      .view({shape.batch, shape.heads, shape.slots, shape.dim});
}

at::Tensor PackedKv::v() const {
  if (v_apart.defined()) return v_apart;
  const int64_t vectors = shape.elements() / (shape.dim + shape.dim_v);
  return packed.narrow(0, vectors * shape.dim + between, vectors * shape.dim_v)
      .view({shape.batch, shape.heads, shape.slots, shape.dim_v});
}

KvBlock entries_of(const KvBlock& block, int64_t first, int64_t count) {
  const int64_t vectors = block.shape.heads * block.shape.slots;  // of an entry
  const int64_t of_k = vectors * block.shape.dim, of_v = vectors * block.shape.dim_v;
  const int64_t all_k = block.shape.batch * of_k;
  KvBlock some = block;
  some.shape.batch = count;
  if (!block.packed.defined()) {
    some.k_apart = block.k_apart.narrow(0, first, count);
    some.v_apart = block.v_apart.narrow(0, first, count);
    return some;
  }
  some.between = all_k - count * of_k + block.between + first * (of_v - of_k);
  some.packed = block.packed.narrow(0, first * of_k, count * (of_k + of_v) + some.between);
  return some;
}

at::Tensor buffer(const KvShape& shape, MemoryTag tag) {
  return buffer(shape.elements(), shape.dtype, shape.device, tag);
}

KvBlock apart(const at::Tensor& k, const at::Tensor& v, Positions positions) {
  const KvShape shape{k.size(0), k.size(1),       k.size(2), k.size(3),
                      v.size(3), k.scalar_type(), k.device()};
  return {{{}, shape, 0, k, v}, std::move(positions), {0, k.size(1)}};
}

KvBlock pack(const at::Tensor& k, const at::Tensor& v, Positions positions) {
  const KvShape shape = apart(k, v, {}).shape;
  KvBlock block{{buffer(shape, MemoryTag::kKv), shape}, std::move(positions), {0, k.size(1)}};
  block.k().copy_(k);
  block.v().copy_(v);
  return block;
}

}  // namespace ringcheck
