// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/errors/error_model.h"
#include "reference/tiles/group.h"
#include "reference/solve.h"
#include "reference/tiles/row_formulas.h"
#include "reference/tiles/tile_formulas.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {

// A factor x of a product together with what the error of the product needs, so that one batched
// product gives all three.
struct Operand {
  at::Tensor all;  // [3, pairs, n, channels]: x, |x| and x^2

  static Operand of(const at::Tensor& x);
  Operand rows(Range range) const;
  Operand with_value(const at::Tensor& x) const;  // beside the old |x| and x^2

  at::Tensor value() const { return all[0]; }
  at::Tensor magnitude() const { return all[1]; }
  at::Tensor square() const { return all[2]; }
};

// An array with an element a pair of query and key for a value, one for its bound and one for its
// variance.
struct Terms {
  at::Tensor all;  // [3, pairs, rows, columns]

  at::Tensor value() const { return all[0]; }
  at::Tensor bound() const { return all[1]; }
  at::Tensor variance() const { return all[2]; }
};

// Memory for the terms of one tile: that of the next tile is the same.
struct Room {
  at::Tensor scores, gradients, others;

  static Room for_largest(const Tiles& tiles, const Group& group);
};

// The keys of a group.
struct Keys {
  Operand k;                // [pairs, seq, dim]
  Operand v;                // [pairs, seq, dim_v]
  at::Tensor v_and_square;  // [pairs, seq, 2 dim_v]
  double shared;            // heads that share a key
  at::Tensor queries;       // [1, seq, 1]: how many rows see a key, over all heads that share it
};
Keys keys_of(const Group& group, const Tiles& tiles);

// Of each query the largest |v| among the keys that it sees, 0 where it sees none:
// [pairs, queries, dim_v].
at::Tensor largest_seen(const Keys& keys, const Tiles& tiles);

// The queries of a strip and what they attend, heads stacked. `rows` is shared * strip rows.
struct StripView {
  const Strip& strip;
  double scale;
  at::Tensor begin, end;  // [strip rows] int32: the runs of keys
  Operand q;              // [pairs, rows, dim]
  Operand scaled_q;       // scale q
  Operand d_o;            // [pairs, rows, dim_v]
  at::Tensor o;           // [pairs, rows, dim_v]
  at::Tensor max;         // [pairs, rows, 1]
  at::Tensor sum;         // [pairs, rows, 1]; 1 where a query sees no key
  at::Tensor lse;         // [pairs, rows, 1]; 0 where a query sees no key
  at::Tensor delta;       // [pairs, rows, 1]
  at::Tensor keys;        // [pairs, rows, 1]: how many keys a row sees
  at::Tensor largest_v;   // [pairs, rows, dim_v]: of those; undefined where nobody asks
};
StripView view_of(const Strip& strip, const Group& group, const Solution& attended,
                  const Tiles& tiles);

// What the formulas need to know of a tile, and of its scores.
ScoreFormula formula_of(const ErrorModel& model, const StripView& strip, const Tile& tile,
                        const Terms& scores);

// What the formulas of rows have in common, of a tensor: its sums [3, ...], what is lost by underflow in
// each row, and where the error goes. All of them must outlive it.
RowFormula formula_of(const ErrorModel& model, const at::Tensor& value, const at::Tensor& sums,
                      const at::Tensor& flushed, const Error& error);

// The elements of a float64 tensor, which must be dense.
const double* elements(const at::Tensor& x);
double* writable(const at::Tensor& x);

// The terms of a tile in this memory.
Terms terms_in(const at::Tensor& memory, const StripView& strip, const Tile& tile);

// Three matrices for each pair [3, pairs, n, m] as one batch of matrices.
at::Tensor batched(const at::Tensor& x);

// a b^T in one batch: of the values, of the magnitudes and of the squares.
void multiply(const Operand& a, const Operand& b, const Terms& product);

// sum += a b, or sums += a b in one batch; where undefined they are zero.
void add_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b);
void add_products(at::Tensor& sums, const Terms& a, const Operand& b);

}  // namespace ringcheck::reference
