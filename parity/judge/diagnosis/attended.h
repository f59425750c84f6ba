// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/mask.h"
#include "reference/rope.h"
#include "reference/tensors.h"

namespace ringcheck::parity {

// Attention of one key-value head and its query heads, as somebody may compute it who is mistaken
// about it: any pairs may be visible, positions may be any numbers.
struct Attending {
  at::Tensor q, d_o;    // [query heads, seq, dim], in float64 on a CPU, as all of these
  at::Tensor k, v;      // [1, seq, dim]; or one for each query head
  bool own_keys = true;  // k and v are those of the head, so that dk and dv are its gradients; else these are not made
  at::Tensor visible;   // [seq, seq]: may the query of the row attend to the key of the column?
  at::Tensor in_dq;     // [seq, seq]: does the pair enter dq? undefined: as it is visible
  at::Tensor in_dkv;    // and dk and dv?
  at::Tensor blocks;    // [seq]: keys of one number are normalised by themselves in the backward pass; undefined: no
  at::Tensor visible_backward;  // as visible, of the backward pass, with the LSE of the forward one; undefined: the same pairs
  int64_t zero_keys = 0;  // that every query sees beside: with a score and a value of 0
  double scale = 1;
  double of_d = 1;      // what D, the row sum of dO O, is multiplied by
  reference::Rope rope;
  at::Tensor q_positions, k_positions;  // [seq], by which it turns
  bool turn_q = true, turn_k = true;
  int back = -1;        // in which direction dq and dk are turned; 0: not at all
};

// From the textbook, with the whole score matrix in memory: o, lse and dq [query heads, seq, ...], dk and
// dv [1, seq, ...]. A query without a key has O = 0 and LSE = -inf.
reference::Tensors attended(const Attending& how);

// Of every pair whether the mask lets the query see the key, [length, length].
at::Tensor visible_pairs(const Mask& mask);

}  // namespace ringcheck::parity
