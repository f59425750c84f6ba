// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ringcheck::parity {

// Some slots of one attention problem and of what an implementation made of it, all
// [batch, heads, slots, dim]: query heads in groups of kv heads. Queries and keys may be different
// slots. Any floating dtypes. Slots without a token hold zeros.
struct AttentionShard {
  at::Tensor q, d_o, o, dq;  // of the queries
  at::Tensor k, v, dk, dv;   // of the keys
  at::Tensor empty_rows;     // bool [batch, q_heads, slots]: queries that see no key; may be undefined
  // Sizes of the numbers as which dq and dk were rounded; undefined where by their own: an element that
  // was turned afterwards has errors of both of its pair.
  at::Tensor dq_size = {}, dk_size = {};
};

// Everything the conservation laws need to know of a shard, in float64 and for every
// (batch, kv head) apart. Sums over shards are the sums over the whole: operator+ and no tensor
// has to be gathered. All are [batch, kv_heads, dim of the sum]; |x| is a norm over channels, D_i
// stands for <dO_i, O_i>.
struct ConservationSums {
  // By channel of v: over queries that see a key dO and dO^2; over keys dV and dV^2; of dO O and
  // of dV v the sum and the squares; v^2.
  at::Tensor d_o, d_o_squares, dv, dv_squares, do_o, do_o_squares, dv_v, dv_v_squares, v_squares;
  // By channel of k: over keys dK, dK^2, k, k^2; of dQ q and of dK k the sum and the squares, squares
  // by the sizes as which gradients were rounded; over
  // queries q^2, q D, q^2 D^2, q^2 sum_c dO^2 O^2, q^2 |dO|^2.
  at::Tensor dk, dk_squares, k, k_squares, dq_q, dq_q_squares, dk_k, dk_k_squares, q_squares, q_d,
      q_d_squares, q_output_squares, q_d_o_squares;
  // Scalars ([..., 1]): sum <dQ, q>^2, <dK, k>^2; queries and keys of a batch entry that are tokens.
  at::Tensor dq_q_norms, dk_k_norms, queries_of_entry, keys_of_entry;
  // Largest |q|, |k|, |v|.
  at::Tensor q_largest, k_largest, v_largest;
  int64_t queries = 0, keys = 0;  // of one kv head, all its group's queries; in any batch entry

  bool empty() const { return !dv.defined(); }
};

// Throws std::invalid_argument where shapes disagree, and says which.
void check_shapes(const AttentionShard& shard);

// Memory: a few copies of 2^24 elements in float64, whatever the shard's size. Throws
// std::invalid_argument where shapes disagree.
ConservationSums conservation_sums(const AttentionShard& shard);

// Of two shards together. An empty one is neutral. Throws std::invalid_argument where the two have
// other batches, heads or dims.
ConservationSums operator+(const ConservationSums& a, const ConservationSums& b);

}  // namespace ringcheck::parity
