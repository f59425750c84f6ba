// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/error_model.h"
#include "reference/group.h"
#include "reference/solve.h"
#include "reference/tile_formulas.h"
#include "reference/tiles.h"

namespace ringcheck::reference {

// A factor of a product together with what the error of the product needs.
struct Operand {
  at::Tensor value;
  at::Tensor magnitude;
  at::Tensor square;

  static Operand of(const at::Tensor& x);
  Operand rows(Range range) const;  // of [pairs, seq, n]
};

// The keys of a group.
struct Keys {
  Operand k;           // [pairs, seq, dim]
  Operand v;           // [pairs, seq, dim_v]
  double shared;       // heads that share a key
  at::Tensor queries;  // [1, seq, 1]: how many rows see a key, over all heads that share it
};
Keys keys_of(const Group& group, const Tiles& tiles);

// The solved queries of a strip, heads stacked. `rows` is shared * strip rows.
struct StripView {
  const Strip& strip;
  double scale;
  at::Tensor begin, end;  // [strip rows] int32: the runs of keys
  Operand q;              // [pairs, rows, dim]
  Operand scaled_q;       // scale q
  Operand d_o;       // [pairs, rows, dim_v]
  at::Tensor o;      // [pairs, rows, dim_v]
  at::Tensor dq;     // [pairs, rows, dim]
  at::Tensor max;    // [pairs, rows, 1]
  at::Tensor sum;    // [pairs, rows, 1]; 1 where a query sees no key
  at::Tensor lse;    // [pairs, rows, 1]; 0 where a query sees no key
  at::Tensor delta;  // [pairs, rows, 1]
  at::Tensor keys;   // [pairs, rows, 1]: how many keys a row sees
};
StripView view_of(const Strip& strip, const Group& group, const Solution& solution,
                  const Tiles& tiles);

// What the formulas need to know of a tile.
TileFormula formula_of(const ErrorModel& model, const StripView& strip, const Tile& tile);

// The elements of a float64 tensor, which must be dense.
const double* elements(const at::Tensor& x);
double* writable(const at::Tensor& x);

// sum += a b, where an undefined sum is zero.
void add_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b);

}  // namespace ringcheck::reference
