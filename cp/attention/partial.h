// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace ringcheck {

// float64, float32, bf16 or fp16: what attention is computed in here.
bool is_floating(at::ScalarType dtype);

// float32, or float64 for float64: the type in which partial results and gradients are kept.
at::ScalarType accumulation_type(at::ScalarType dtype);

// Attention over a subset of the keys: the softmax-weighted values and the natural logarithm of
// the softmax denominator. (merge, identity) is a commutative monoid.
struct Partial {
  // [batch, q_heads, queries, dim_v], in accumulation type; or, of one call of a kernel that rounds,
  // in the dtype of q.
  at::Tensor out;
  at::Tensor lse;  // [batch, q_heads, queries], -inf where no key was visible

  // Nothing attended yet: out = 0, lse = -inf.
  static Partial identity(at::IntArrayRef out_sizes, const at::TensorOptions& options);
};

// Attention over the union of two disjoint key sets (Milakov and Gimelshein 2018; Dao et al.,
// FlashAttention, section 3.1). Commutative bit for bit; where one side saw no key the other is
// returned untouched.
Partial merge(const Partial& a, const Partial& b);
// The same with O in this dtype: rounded to it, once, where nothing more is added.
Partial merge_to(at::ScalarType out, const Partial& a, const Partial& b);
// The same into tensors that may be some rows of larger ones, or those of a or b; LSE in the accumulation type.
void merge_into(const Partial& sum, const Partial& a, const Partial& b);
// merge_to, or what stands in its place.
using Merge = std::function<Partial(at::ScalarType out, const Partial&, const Partial&)>;

}  // namespace ringcheck
