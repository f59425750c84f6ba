// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "reference/mask.h"
#include "reference/tensors.h"

namespace ringcheck::reference {

// One attention problem in sequence order: index i of the sequence dimension is global position i.
// All tensors on one device, of any floating dtype. q_heads is a multiple of kv_heads: query head h
// reads head h / (q_heads / kv_heads) of k and v.
struct Inputs {
  at::Tensor q;    // [batch, q_heads, seq, dim]
  at::Tensor k;    // [batch, kv_heads, seq, dim]
  at::Tensor v;    // [batch, kv_heads, seq, dim_v]
  at::Tensor d_o;  // [batch, q_heads, seq, dim_v], the gradient of a loss in o
  Mask mask;       // of length seq
  double scale = 1;  // of the scores q k^T, usually 1 / sqrt(dim)
};

struct Tiling {
  int64_t rows = 256;                // queries a tile
  int64_t columns = 256;             // keys a tile
  int64_t together = 1 << 18;        // elements of scores up to which heads are taken together
  std::function<void()> tick = {};   // called after every tile: a sign of life
};

// Attention and its gradients, softmax(scale q k^T + mask) v, in float64 on the device of the
// inputs, whatever their dtype. Scores are computed a tile at a time and again in the backward
// pass, as in FlashAttention (Dao et al. 2022, section 3.1), but the maximum of a row is known
// before its sums begin: nothing is rescaled. Memory O(seq x dim). A query that sees no key has
// O = 0, LSE = -inf and zero gradients, and what stands in pad slots does not matter. Throws
// std::invalid_argument on shapes that disagree, and std::logic_error while TF32 is allowed.
Tensors attention(const Inputs& inputs, const Tiling& tiling = {});

// The same from the textbook, with the whole score matrix in memory: what attention() is held to.
Tensors naive_attention(const Inputs& inputs);

}  // namespace ringcheck::reference
